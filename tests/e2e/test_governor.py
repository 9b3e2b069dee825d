"""Streams with a deadline: turns, rungs, policies, over HTTP and on the command line. Speed: bench/governor.py."""
import signal
import subprocess
import threading
import time

import pytest
from conftest import SACCADE, SAMPLE, ffmpeg, saccade
from serve_tools import Server, until
from test_serve_streams import Follower

STREAMS_MAX = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("media")
    # Something moves in every picture, so every picture needs an answer of its own.
    ffmpeg("-t", "5", "-i", SAMPLE, "-f", "lavfi", "-i", "color=c=0x30c060:s=160x160:r=10", "-filter_complex",
           "[0:v][1:v]overlay=x='mod(t*260,1120)':y='260+200*sin(t)':shortest=1", "-an", "-c:v", "libx264",
           "-preset", "ultrafast", "-g", "10", folder / "moving.mp4")
    running = Server("--media-path", folder, "--streams-max", STREAMS_MAX, "--senses", "see")
    running.media = folder
    yield running
    assert running.stop() == 0, running.log


def start(server, **fields):
    body = {"source": "file:///moving.mp4", "realtime": True, "loop": True, "fps": 10, "senses": ["see"],
            "prompts": ["What do you see?"], **fields}
    return server.request("POST", "/v1/streams", body)


def metric(server, name):
    text = server.request("GET", "/metrics", port=server.admin)[2]
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " "))


def events_until(follower, wanted, most=2000):
    out = []
    for _ in range(most):
        event = follower.next()[1]
        out.append(event)
        if wanted(event):
            return out
    raise AssertionError([e["kind"] for e in out[-20:]])


def test_a_governed_stream_tells_its_rung_and_switches_policy_while_it_runs(server):
    status, _, stream = start(server, id="one", policy="alert", slo_ms=400, max_new_tokens=32)
    assert status == 201 and (stream["policy"], stream["slo_ms"]) == ("alert", 400)
    follower = Follower(server, "one")
    events = events_until(follower, lambda e: e["kind"] == "answer")
    assert server.request("GET", "/v1/streams/one")[2]["state"] == "up"
    knobs = next(e for e in events if e["kind"] == "knobs")
    assert knobs["reason"] == "full" and knobs["numbers"]["max_new_tokens"] == 16  # the policy's
    status, _, stream = server.request("PATCH", "/v1/streams/one", {"policy": "reading"})
    assert status == 200 and (stream["policy"], stream["slo_ms"]) == ("reading", 400)
    knobs = events_until(follower, lambda e: e["kind"] == "knobs")[-1]
    assert knobs["numbers"]["max_new_tokens"] == 32
    # A wrong one changes nothing, and the stream goes on.
    status, _, wrong = server.request("PATCH", "/v1/streams/one", {"policy": "fastest"})
    assert status == 400 and "captions" in str(wrong), wrong
    assert server.request("GET", "/v1/streams/one")[2]["policy"] == "reading"
    events_until(follower, lambda e: e["kind"] == "answer")
    server.request("DELETE", "/v1/streams/one")


def test_too_many_streams_degrade_in_order_are_refused_with_the_reason_and_come_back(server):
    running = []
    while True:
        status, headers, reply = start(server, id=f"many{len(running)}", policy="alert", slo_ms=300)
        if status == 429:
            break
        assert status == 201 and len(running) < STREAMS_MAX - 1, (len(running), reply)
        running.append(reply["id"])
        time.sleep(0.5)  # its load is seen before the next one asks
    assert "load" in reply["error"]["message"] and headers["Retry-After"], reply
    until(lambda: metric(server, "saccade_governor_rung") >= 4, 60)
    told = events_until(Follower(server, running[0]), lambda e: e.get("reason") == "slow")
    order = [e["reason"] for e in told if e["kind"] == "knobs"]
    first = [order.index(rung) for rung in ("full", "calm", "pruned", "slow")]
    assert first == sorted(first), order
    for name in running[1:]:
        server.request("DELETE", f"/v1/streams/{name}")
    until(lambda: metric(server, "saccade_governor_rung") == 0, 60)
    server.request("DELETE", f"/v1/streams/{running[0]}")


@pytest.mark.parametrize("fields", [{"policy": "fastest"}, {"slo_ms": 0}, {"slo_ms": 600_001}, {"slo_ms": "soon"},
                                    {"policy": 3}])
def test_wrong_terms_are_refused_by_name(server, fields):
    status, _, reply = start(server, **fields)
    assert status == 400 and next(iter(fields)) in str(reply), reply


def test_watch_keeps_a_deadline_and_says_what_it_gave_up():
    run = saccade("watch", SAMPLE, "--json", "--realtime", "--senses", "see", "--slo-ms", "400", "--duration-s", "4",
                  "--fps", "10")
    assert run.code == 0
    knobs = run.kinds("knobs")
    assert knobs and knobs[0]["reason"] == "full"
    assert run.kinds("caption")
    wrong = saccade("watch", SAMPLE, "--policy", "fastest")
    assert wrong.code == 2 and "captions" in wrong.err


def test_policies_of_the_operator_are_taken_up_while_a_stream_runs(server, tmp_path):
    """`server` only lends its film."""
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "night.toml").write_text('based_on = "alert"\nslo_ms = 700\nmax_new_tokens = 9\n')
    own = Server("--media-path", server.media, "--policies", policies, "--policy", "night", "--senses", "see")
    try:
        status, _, stream = start(own, id="one", max_new_tokens=32)
        assert status == 201 and stream["policy"] == "night", stream
        follower = Follower(own, "one")

        def tokens():
            return events_until(follower, lambda e: e["kind"] == "knobs")[-1]["numbers"]["max_new_tokens"]
        assert tokens() == 9
        (policies / "night.toml").write_text("max_new_tokens = 11")
        assert tokens() == 11
        # A bad file is told by its place, and what was there goes on.
        (policies / "night.toml").write_text("max_new_tokens = eleven")
        own.process.send_signal(signal.SIGHUP)
        until(lambda: any("night.toml:1" in line for line in own.log))
        assert start(own, id="two", policy="night")[0] == 201
        # SIGHUP reads at once, and ends nothing.
        (policies / "night.toml").write_text("max_new_tokens = 7")
        own.process.send_signal(signal.SIGHUP)
        assert tokens() == 7
        events_until(follower, lambda e: e["kind"] == "answer")
    finally:
        assert own.stop() == 0, own.log


def test_watch_follows_a_policy_file(tmp_path):
    (tmp_path / "mine.toml").write_text("max_new_tokens = 9")
    process = subprocess.Popen([SACCADE, "watch", SAMPLE, "--json", "--realtime", "--senses", "see", "--policy", "mine",
                                "--policies", tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    threading.Timer(60, process.kill).start()
    told = []
    for line in process.stdout:
        if '"knobs"' in line and '"max_new_tokens":' in line:
            told.append(int(line.split('"max_new_tokens":')[1].split(",")[0].strip("} \n")))
            (tmp_path / "mine.toml").write_text("max_new_tokens = 12")
        if told and told[-1] == 12:
            break
    process.kill()
    assert told[0] == 9 and told[-1] == 12, (told, process.stderr.read())


@pytest.mark.parametrize("name,text,told", [
    ("night.toml", "slo_ms = 0", "night.toml:1: 'slo_ms' is 0; allowed is 1..600000"),
    ("night.toml", "speed = 1", "'speed' is no part of a policy"),
    ("Night.toml", "", "named by its file"),
])
def test_a_wrong_policy_file_is_refused_at_the_start(tmp_path, name, text, told):
    (tmp_path / name).write_text(text)
    run = saccade("watch", SAMPLE, "--policies", tmp_path)
    assert run.code == 2 and told in run.err, run.err
    assert saccade("watch", SAMPLE, "--policies", tmp_path / "none").code == 2
