"""What watches a server: its metrics, the alert rules and the board, by Prometheus' own tools."""
import json
import re
import subprocess
import time

import pytest
from conftest import ROOT, SAMPLE
from serve_tools import Server, until

PROMTOOL = ROOT / "build/tools/promtool"
OPS = ROOT / "ops"


@pytest.fixture(scope="module")
def metrics():
    """/metrics of a server that has watched a stream and answered a chat."""
    server = Server("--media-path", SAMPLE.parent, "--senses", "see")
    try:
        status, _, reply = server.request("POST", "/v1/streams", {
            "source": f"file:///{SAMPLE.name}", "realtime": True, "id": "one", "senses": ["see"], "policy": "captions",
            "prompts": ["What do you see?"]})
        assert status == 201, reply
        assert server.chat("hi")[0] == 200
        assert server.chat("hi")[0] == 200
        until(lambda: server.metric('saccade_governor_turns_total{outcome="in_time"}') >= 2)
        time.sleep(0.2)
        yield server.request("GET", "/metrics", port=server.admin)[2]
    finally:
        server.stop()


def promtool(*args, stdin=None):
    return subprocess.run([PROMTOOL, *args], input=stdin, capture_output=True, text=True, cwd=OPS / "prometheus")


def test_promtool_has_nothing_to_say_about_the_metrics(metrics):
    run = promtool("check", "metrics", stdin=metrics)
    assert run.returncode == 0 and not run.stdout + run.stderr, run


def test_stages_and_the_language_model_are_measured(metrics):
    value = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
             for line in metrics.splitlines() if not line.startswith("#")}
    for stage in ("see", "decode", "emit"):
        assert value[f'saccade_stage_seconds_count{{stage="{stage}"}}'] > 0
    assert value["saccade_language_steps_total"] > 0
    assert value['saccade_language_tokens_total{how="read"}'] > value["saccade_language_steps_total"]
    assert value['saccade_language_tokens_total{how="reused"}'] > 0
    assert value['saccade_kv_cells{state="used"}'] > 0 and value['saccade_kv_cells{state="free"}'] > 0
    assert value["saccade_kv_sequences"] >= 1


def test_the_alert_rules_fire_when_they_should_and_only_then():
    for args in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        run = promtool(*args)
        assert run.returncode == 0, run.stdout + run.stderr


def test_the_board_and_the_rules_ask_for_metrics_that_exist(metrics):
    known = set(re.findall(r"^# TYPE (\S+)", metrics, re.M))
    board = json.loads((OPS / "grafana/saccade.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked.append((OPS / "prometheus/alerts.yml").read_text())
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for text in asked for name in re.findall(r"\bsaccade_\w+", text)}
    assert len(names) > 20 and names <= known, names - known
