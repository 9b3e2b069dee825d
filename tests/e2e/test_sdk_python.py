"""The Python client of sdk/python against the real server: streams, events without a gap, questions, pushing."""
import asyncio
import io
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT, SAMPLE, ffmpeg
from PIL import Image
from serve_tools import Server, until

sys.path.insert(0, str(ROOT / "sdk/python"))
from saccade import AsyncSaccade, Event, Outcome, Saccade, SaccadeError  # noqa: E402

EXAMPLES = ROOT / "sdk/python/examples"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("media")
    ffmpeg("-ss", "2", "-t", "4", "-i", SAMPLE, folder / "clip.mp4")
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text("team key-of-team\n")
    running = Server("--media-path", folder, "--api-key-file", keys, "--streams-max", 16)
    yield running
    assert running.stop() == 0, running.log


@pytest.fixture
def client(server):
    client = Saccade(server.url, api_key="key-of-team")
    yield client
    for state in client.streams():
        client.stream(state.id).delete()


def live(client, **fields):
    return client.create_stream("file:///clip.mp4", realtime=True, loop=True, senses=["see"],
                                prompts=["What do you see?"], **fields)


def jpeg(colour):
    packed = io.BytesIO()
    Image.new("RGB", (192, 192), colour).save(packed, "JPEG")
    return packed.getvalue()


def test_a_file_is_followed_to_its_end(client):
    stream = client.create_stream("file:///clip.mp4", prompts=["What do you see?"])
    events = list(stream.events())
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert events[-1].ends_stream and {"answer", "text", "stats"} <= {e.kind for e in events}
    answer = next(e for e in events if e.kind == "answer")
    assert answer.text and answer.t0 is not None and answer.data["stages"]["decode"] > 0
    assert [e.seq for e in stream.events(after=5)] == list(range(6, len(events) + 1))


def test_a_stream_is_listed_changed_asked_and_ended(client):
    stream = live(client, id="live", policy="captions", slo_ms=500)
    assert [s.id for s in client.streams()] == ["live"]
    assert until(lambda: stream.state().state == "up")
    assert stream.update(policy="reading").data["policy"] == "reading"
    next(e for e in stream.events() if e.kind == "answer")
    whole = stream.ask("What do you see?", temperature=0)
    assert whole and "".join(stream.ask_stream("What do you see?", temperature=0))
    assert stream.picture().startswith(b"\xff\xd8")
    ended = []
    reader = threading.Thread(target=lambda: ended.extend(stream.events()))
    reader.start()
    time.sleep(0.3)
    stream.delete()
    reader.join(10)
    assert not reader.is_alive() and ended[-1].ends_stream
    with pytest.raises(SaccadeError) as gone:
        client.stream("nobody").state()
    assert gone.value.status == 404


def test_refusals_name_the_field(client, server):
    with pytest.raises(SaccadeError) as wrong:
        live(client, policy="fastest")
    assert (wrong.value.status, wrong.value.param) == (400, "policy") and "captions" in wrong.value.message
    with pytest.raises(SaccadeError) as stranger:
        Saccade(server.url, api_key="wrong").streams()
    assert stranger.value.status == 401
    with pytest.raises(SaccadeError) as unseen:
        next(Saccade(server.url, api_key="wrong").stream("x").events())
    assert unseen.value.status in (401, 403)
    with pytest.raises(ValueError, match="base_url"):
        Saccade("127.0.0.1:8770")
    assert client.healthy() and client.models()
    assert not Saccade("http://127.0.0.1:9").healthy()


def test_a_lost_connection_leaves_no_gap(client):
    stream = live(client, id="gaps", refresh_s=0.1)
    from saccade._client import _Link
    from saccade._wire import Account
    link = _Link(stream._http, stream._path, Account(), push=False)
    seen = []
    for _ in range(40):
        seen.append(link.receive(10).seq)
        if len(seen) % 10 == 0:
            link.socket().socket.shutdown(2)  # as if the cable were pulled
    assert seen == list(range(seen[0], seen[0] + 40))
    link.close()


def test_pushed_pictures_have_one_outcome_each(client):
    colours = {"red": (255, 0, 0), "blue": (0, 0, 255)}
    array = np.zeros((192, 192, 3), np.uint8)
    array[:] = colours["blue"]
    with client.push(id="desk", prompts=["What do you see?"], senses=["see"]) as push:
        sent = [push.picture(jpeg("red"), capture_us=1_000_000),
                push.picture(Image.new("RGB", (192, 192), "red"), capture_us=2_000_000)]
        outcomes = []
        while len(outcomes) < 2:
            told = push.receive(10)
            assert told is not None
            outcomes += [told] if isinstance(told, Outcome) else []
        sent.append(push.picture(array, capture_us=9_000_000))
        push.sound(np.zeros(1600, np.int16), capture_us=9_000_000)
        push.end()
        told = list(push)
    outcomes += [t for t in told if isinstance(t, Outcome)]
    assert [o.frame for o in outcomes] == sent
    assert outcomes[-1].outcome == "seen" and isinstance(told[-1], Event) and told[-1].ends_stream
    with pytest.raises(TypeError, match="picture"):
        push.picture(np.zeros((4, 4), np.uint8))


def test_more_than_was_granted_waits_for_credit(client):
    with client.push(id="many", senses=["see"], prompts=["What do you see?"]) as push:
        sent = [push.picture(jpeg("red"), capture_us=i * 100_000) for i in range(40)]
        push.end()
        outcomes = [t for t in push if isinstance(t, Outcome)]
    assert [o.frame for o in outcomes] == sent and {o.outcome for o in outcomes} <= {"seen", "drop"}
    assert "credit" not in {o.reason for o in outcomes}


def test_asyncio_follows_two_streams_at_one_time(server):
    async def follow(client, name):
        stream = await client.create_stream("file:///clip.mp4", id=name, senses=["see"], prompts=["What do you see?"])
        return [event async for event in stream.events()]

    async def both():
        client = AsyncSaccade(server.url, api_key="key-of-team")
        assert await client.healthy()
        runs = await asyncio.gather(follow(client, "first"), follow(client, "second"))
        for name in ("first", "second"):
            await client.stream(name).delete()
        return runs
    for events in asyncio.run(both()):
        assert events[-1].ends_stream and any(e.kind == "answer" for e in events)


def test_the_examples_run(tmp_path):
    ffmpeg("-ss", "2", "-t", "2", "-i", SAMPLE, tmp_path / "clip.mp4")
    (tmp_path / "red.jpg").write_bytes(jpeg("red"))
    server = Server("--media-path", tmp_path)
    try:
        for script, *args in (("follow.py", "file:///clip.mp4", "What do you see?"),
                              ("push_pictures.py", tmp_path / "red.jpg")):
            run = subprocess.run([sys.executable, EXAMPLES / script, server.url, *map(str, args)], text=True,
                                 timeout=60, capture_output=True,
                                 env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")})
            assert run.returncode == 0 and " s  " in run.stdout, run.stderr
    finally:
        assert server.stop() == 0


def test_the_package_can_be_built_and_is_typed():
    text = (ROOT / "sdk/python/pyproject.toml").read_text()
    version = next(line for line in (ROOT / "CMakeLists.txt").read_text().splitlines() if "VERSION 0" in line)
    assert f'version = "{version.split("VERSION ")[1].split()[0]}"' in text
    assert (ROOT / "sdk/python/saccade/py.typed").exists()
