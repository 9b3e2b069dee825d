"""Live streams over HTTP: made, followed, asked, changed, ended; several beside each other."""
import contextlib
import http.client
import json
import time

import pytest
from conftest import ROOT, SAMPLE, ffmpeg
from serve_tools import Server, sse_events, until

KEYS = "alice key-of-alice\nbob key-of-bob\nroot key-of-root admin\n"


@pytest.fixture(scope="module")
def media(tmp_path_factory):
    folder = tmp_path_factory.mktemp("media")
    ffmpeg("-ss", "2", "-t", "6", "-i", SAMPLE, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
           "-g", "10", "-c:a", "aac", folder / "clip.mp4")
    return folder


@pytest.fixture(scope="module")
def server(media):
    running = Server("--media-path", media, "--streams-max", "4", "--allow-source", "127.0.0.1:9")
    yield running
    assert running.stop() == 0, running.log


@pytest.fixture
def make(server):
    made = []

    def create(**fields):
        body = {"source": "file:///clip.mp4", "senses": ["see"], "prompts": ["What do you see?"], **fields}
        reply = server.request("POST", "/v1/streams", body)
        if reply[0] == 201:
            made.append(reply[2]["id"])
        return reply
    yield create
    for name in made:
        server.request("DELETE", f"/v1/streams/{name}")


def live(**fields):
    return {"realtime": True, "loop": True, **fields}


class Follower:
    """An open event stream: (id, event) pairs as they come."""

    def __init__(self, server, name, after=None, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        self.connection.request("GET", f"/v1/streams/{name}/events", headers={
            **({"Last-Event-ID": str(after)} if after is not None else {}), **(headers or {})})
        self.reply = self.connection.getresponse()
        assert self.reply.status == 200 and self.reply.headers["X-Accel-Buffering"] == "no"

    def next(self):
        number = None
        while True:
            line = self.reply.readline().decode()
            if not line:
                return None
            if line.startswith("id: "):
                number = int(line[4:])
            if line.startswith("data: "):
                return number, json.loads(line[6:])

    def take(self, count):
        return [self.next() for _ in range(count)]

    def close(self):
        self.connection.close()


def events_of(server, name):
    status, _, raw = server.request("GET", f"/v1/streams/{name}/events")
    assert status == 200
    return [json.loads(data) for data in sse_events(raw)]


def test_a_file_is_watched_to_its_end_as_the_command_line_does(server, make):
    status, _, stream = make(id="whole", senses=["see", "read", "hear"], alerts=["Is there a red circle?"])
    assert status == 201 and stream["source"] == "file:///clip.mp4"
    events = events_of(server, "whole")  # ends with the stream
    kinds = {e["kind"] for e in events}
    assert {"answer", "alert", "text", "speech", "stats", "status"} <= kinds, kinds
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert all(e["stream"] == "whole" for e in events) and events[-1]["reason"] == "ended"
    assert server.request("GET", "/v1/streams/whole")[2]["state"] == "ended"
    assert "/proc" not in json.dumps(events)


def test_a_reader_that_comes_back_misses_nothing(server, make):
    make(**live(id="resume"))
    first = Follower(server, "resume")
    seen = first.take(4)
    first.close()
    time.sleep(1)
    second = Follower(server, "resume", after=seen[-1][0])
    more = second.take(3)
    second.close()
    numbers = [number for number, _ in seen + more]
    assert numbers == list(range(1, 8))


def test_several_streams_share_one_model(server, make):
    for name in ("one", "two", "three"):
        assert make(**live(id=name))[0] == 201
    readers = {name: Follower(server, name) for name in ("one", "two", "three")}
    answered = {}
    for name, reader in readers.items():
        while (pair := reader.next()) and pair[1]["kind"] != "answer":
            pass
        answered[name] = pair[1]["text"]
        reader.close()
    assert all(answered.values())
    # each has its own state: the same film, the same first answer
    assert len(set(answered.values())) == 1, answered
    assert server.chat("hi")[0] == 200


def test_a_question_about_now(server, make):
    make(**live(id="asked"))
    question = {"question": "What do you see?", "max_new_tokens": 8}
    until(lambda: server.request("POST", "/v1/streams/asked/ask", question)[0] == 200)
    status, _, answer = server.request("POST", "/v1/streams/asked/ask", question)
    assert status == 200 and answer["choices"][0]["message"]["content"].strip()
    status, headers, raw = server.request("POST", "/v1/streams/asked/ask", {**question, "stream": True})
    assert status == 200 and headers["Content-Type"].startswith("text/event-stream")
    assert sse_events(raw)[-1] == "[DONE]"


# row 8 of F: prompts and pace change while it runs, at the edge of a frame
def test_prompts_and_knobs_change_while_it_runs(server, make):
    make(**live(id="changed"))
    reader = Follower(server, "changed")
    while reader.next()[1]["kind"] != "answer":
        pass
    status, _, _ = server.request("PATCH", "/v1/streams/changed", {
        "prompts": [{"id": "count", "text": "How many shapes are there?"}], "refresh_s": 0.5, "max_new_tokens": 12})
    assert status == 200
    told, asked = False, False
    for _ in range(60):
        _, event = reader.next()
        told |= event["kind"] == "knobs" and event["numbers"]["refresh_max_s"] == 0.5
        asked |= event.get("prompt") == "count"
        if told and asked:
            break
    reader.close()
    assert told and asked
    for bad in ({"source": "file:///x"}, {"prompts": [""]}, {"max_new_tokens": 0}, {"prompts": ["a"] * 17}):
        assert server.request("PATCH", "/v1/streams/changed", bad)[0] == 400, bad


def test_delete_ends_a_stream_and_its_readers(server, make):
    make(**live(id="ended"))
    reader = Follower(server, "ended")
    reader.next()
    assert server.request("DELETE", "/v1/streams/ended")[2]["deleted"]
    last = None
    while pair := reader.next():
        last = pair[1]
    assert last["kind"] == "status" and last["reason"] == "ended"
    assert server.request("GET", "/v1/streams/ended")[0] == 404


def test_the_number_of_streams_is_bounded_and_ids_are_unique(server, make):
    assert make(**live(id="b1"))[0] == 201
    status, _, body = make(**live(id="b1"))
    assert status == 409 and body["error"]["code"] == "stream_exists"
    for name in ("b2", "b3", "b4"):
        assert make(**live(id=name))[0] == 201
    status, headers, body = make(**live(id="b5"))
    assert status == 429 and body["error"]["code"] == "too_many_streams" and "Retry-After" in headers


@pytest.mark.parametrize("source", ["", "clip.mp4", "/etc/passwd", "file:///../secret", "file:///none.mp4", "-",
                                    "/dev/video0",
                                    "http://127.0.0.1/x", "rtsp://10.0.0.1/x", "rtsp://127.0.0.1:10/x", "concat:a|b",
                                    "rtsp://127.0.0.1:9\\@evil/x", "exec:sh", "tcp://127.0.0.1:9",
                                    "rtsp://127.0.0.1:9@evil/x"])
def test_t1_t21_sources_nobody_allowed_are_refused(server, source):
    status, _, body = server.request("POST", "/v1/streams", {"source": source})
    assert status in (400, 422), (source, body)
    assert "/proc" not in json.dumps(body)


# F7: nobody answers there; the state says so and nothing spins
def test_f7_a_source_that_refuses_is_told(server, make):
    status, _, _ = make(id="dead", source="rtsp://user:canary-secret@127.0.0.1:9/cam")
    assert status == 201
    shown = until(lambda: (s := server.request("GET", "/v1/streams/dead")[2]) and s.get("reason") and s)
    assert shown["state"] in ("connecting", "failed") and "canary-secret" not in json.dumps(shown)
    assert "canary-secret" not in json.dumps(server.request("GET", "/v1/streams")[2])


def test_f4_a_reader_that_takes_nothing_does_not_hold_a_stream_up(server, make):
    make(**live(id="slow", refresh_s=0.1))
    stuck = Follower(server, "slow")  # reads nothing more
    before = server.memory_kb()
    fast = Follower(server, "slow")
    assert len(fast.take(30)) == 30
    fast.close()
    stuck.close()
    assert server.memory_kb() - before < 32 << 10


@pytest.mark.parametrize("engine", ["native", "llama"])
def test_t10_what_one_tenant_said_saves_another_no_time(tmp_path, engine):
    """Time to the first token would tell whether somebody else has asked the same."""
    (tmp_path / "keys").write_text(KEYS)
    running = Server("--api-key-file", tmp_path / "keys", "--senses", "see", "--engine", engine, "--parallel", 1)
    try:
        long = "Tell me about the red circle at the top left corner. " * 20

        def ask(who):
            reused = running.metric('saccade_language_tokens_total{how="reused"}')
            started = time.monotonic()
            status, _, reply = running.chat(long, {"Authorization": f"Bearer key-of-{who}"}, max_tokens=1)
            assert status == 200, reply
            return running.metric('saccade_language_tokens_total{how="reused"}') - reused, time.monotonic() - started

        ask("alice")
        again, fresh = ask("alice"), ask("bob")
        if engine == "native":  # the other one does not count
            assert again[0] > 200 and fresh[0] == 0, (again, fresh)
            assert ask("alice")[0] > 200, "her own stays with her"
        assert min(ask("bob")[1] for _ in range(5)) < fresh[1], "his own is reused"
    finally:
        assert running.stop() == 0


def test_t23_a_stream_belongs_to_who_made_it(media, tmp_path):
    (tmp_path / "keys").write_text(KEYS)
    running = Server("--media-path", media, "--api-key-file", tmp_path / "keys")
    try:
        def call(who, method, path, body=None):
            return running.request(method, path, body, {"Authorization": f"Bearer key-of-{who}"})
        made = {"id": "hers", "source": "file:///clip.mp4", "realtime": True, "loop": True, "senses": ["see"]}
        assert call("alice", "POST", "/v1/streams", made)[0] == 201
        for method, path, body in (("GET", "", None), ("PATCH", "", {"refresh_s": 1}), ("DELETE", "", None),
                                   ("GET", "/events?follow=false", None), ("GET", "/picture", None),
                                   ("POST", "/ask", {"question": "?"})):
            assert call("bob", method, "/v1/streams/hers" + path, body)[0] == 404, (method, path)
        assert call("bob", "GET", "/v1/streams")[2]["data"] == []
        assert len(call("root", "GET", "/v1/streams")[2]["data"]) == 1
        assert call("alice", "GET", "/v1/streams/hers")[0] == 200
        assert call("alice", "DELETE", "/v1/streams/hers")[0] == 200
    finally:
        assert running.stop() == 0, running.log


def test_f18_streams_end_with_a_reason_when_the_server_stops(media):
    running = Server("--media-path", media)
    body = {"id": "last", "source": "file:///clip.mp4", "realtime": True, "loop": True, "senses": ["see"]}
    assert running.request("POST", "/v1/streams", body)[0] == 201
    reader = Follower(running, "last")
    reader.next()
    assert running.stop() == 0, running.log
    last = None
    with contextlib.suppress(http.client.IncompleteRead):
        while pair := reader.next():
            last = pair[1]
    assert last and last["reason"] == "ended"


def test_metrics_have_the_form_prometheus_takes(server):
    text = server.request("GET", "/metrics", port=server.admin)[2]
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(names) == len(set(names)) and all(name.startswith("saccade_") for name in names)
    for wanted in ("saccade_http_requests_total", "saccade_time_to_first_token_seconds", "saccade_queue_waiting",
                   "saccade_frame_age_seconds", "saccade_frames_total", "saccade_requests_refused_total",
                   "saccade_streams"):
        assert wanted in names
    assert 'le="0.001"' in text and "clip.mp4" not in text and str(ROOT) not in text
