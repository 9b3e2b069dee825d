"""Streams that a client pushes over a WebSocket: pictures and sound in, events and outcomes out."""
import contextlib
import json
import os
import socket
import struct
import time

import pytest
from conftest import SAMPLE, ffmpeg
from serve_tools import Server, until
from socket_client import Client, key_protocol, packet, picture, sound
from websockets.exceptions import InvalidStatus

KEYS = "alice key-of-alice\nbob key-of-bob\n"
RATE = 16_000
PICTURE_US = 400_000


@pytest.fixture(scope="module")
def media(tmp_path_factory):
    """Twelve seconds of the sample as a client would have them: pictures and samples."""
    folder = tmp_path_factory.mktemp("pushed")
    ffmpeg("-t", "12", "-i", SAMPLE, "-vf", f"fps={1e6 / PICTURE_US}", "-q:v", "2", folder / "%03d.jpg")
    ffmpeg("-t", "12", "-i", SAMPLE, "-vn", "-ac", "1", "-ar", str(RATE), "-f", "s16le", folder / "sound.pcm")
    ffmpeg("-t", "6", "-i", SAMPLE, "-c", "copy", folder / "clip.mp4")
    return folder


@pytest.fixture(scope="module")
def pictures(media):
    return [path.read_bytes() for path in sorted(media.glob("*.jpg"))]


@pytest.fixture(scope="module")
def server(media):
    running = Server("--streams-max", "4", "--media-path", media)
    yield running
    assert running.stop() == 0, running.log


@pytest.fixture
def make(server):
    made = []

    def create(name, **fields):
        body = {"id": name, "source": "push", "senses": ["see"], **fields}
        status, _, reply = server.request("POST", "/v1/streams", body)
        assert status == 201, reply
        made.append(name)
        return name
    yield create
    for name in made:
        server.request("DELETE", f"/v1/streams/{name}")


def test_pictures_and_sound_become_events(server, make, media, pictures):
    make("whole", senses=["see", "read", "hear"], prompts=["What do you see?"])
    client = Client(server, "whole")
    assert client.socket.subprotocol == "saccade.v1"
    pcm = (media / "sound.pcm").read_bytes()
    step, start = RATE * PICTURE_US // 1_000_000 * 2, 1_700_000_000_000_000
    seq = 0
    for i, jpeg in enumerate(pictures):
        capture = start + i * PICTURE_US
        client.send_sound(pcm[i * step:(i + 1) * step], seq := seq + 1, capture)
        client.send_picture(jpeg, seq := seq + 1, capture)
        client.until(lambda m: m.get("frame") == seq)  # as fast as the server looks
    client.send(json.dumps({"type": "end"}))
    client.drain()
    assert client.code == 1000
    kinds = {m["kind"] for m in client.messages}
    assert {"answer", "text", "speech", "stats", "status", "credit", "outcome"} <= kinds, kinds
    numbers = [m["seq"] for m in client.messages if m["kind"] not in ("credit", "outcome", "error")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert client.messages[-1]["reason"] == "ended"
    # every picture has one outcome
    assert [m["n"] for m in client.of("outcome")] == list(range(1, len(pictures) + 1))
    assert sorted(client.outcomes()) == list(range(2, seq + 1, 2))
    assert list(client.outcomes().values()).count("seen") > len(pictures) / 2
    # the first message was captured at second 1; drops are told in both ways
    for seen in (m for m in client.of("outcome") if m["outcome"] == "seen"):
        assert abs(seen["t0"] - (1 + (seen["frame"] - 2) / 2 * PICTURE_US / 1e6)) < 0.002, seen
    dropped = sum(m["count"] for m in client.of("drop"))
    assert dropped == sum(reason != "seen" for reason in client.outcomes().values())
    assert any(m["text"] for m in client.of("speech"))


def test_who_sends_more_than_the_credit_is_dropped_and_told(server, make, pictures):
    # pictures wait for the sound that may belong to them, so several are under way at once
    make("greedy", senses=["see", "hear"])
    client = Client(server, "greedy")
    first = client.until(lambda m: m["kind"] == "credit")
    assert first["pictures"] == 8 and first["sound_ms"] == 4000 and first["newest"] == 0
    sent = 0
    while sent < 600 and "credit" not in client.outcomes().values():
        client.send(picture(pictures[0], sent := sent + 1, sent * 20_000))
        client.take(0.02)
    assert until(lambda: client.take(0.2) is None and len(client.outcomes()) == sent)
    reasons = list(client.outcomes().values())
    assert reasons.count("credit") > 0 and reasons.count("seen") > 0, reasons
    # what was accepted gave its credit back, what was refused did not
    client.until(lambda _: False, 0.5)
    granted = sum(m["pictures"] for m in client.of("credit"))
    assert granted == 8 + sent - reasons.count("credit")
    client.close()


def test_the_rate_of_the_stream_holds_for_clients(server, make, pictures):
    make("paced", fps=2)
    client = Client(server, "paced")
    for seq in range(1, 31):
        client.send_picture(pictures[0], seq, seq * 100_000)
        client.until(lambda m: m["kind"] == "outcome")
    reasons = list(client.outcomes().values())
    assert reasons.count("rate") >= 20 and reasons.count("seen") >= 5, reasons
    client.close()


def test_a_client_that_comes_back_goes_on_and_misses_nothing(server, make, pictures):
    make("tunnel", prompts=["What do you see?"])
    client = Client(server, "tunnel")
    for seq in range(1, 6):
        client.send_picture(pictures[seq], seq, seq * 200_000)
    client.until(lambda m: m["kind"] == "outcome")
    client.lose()
    event = max(m["seq"] for m in client.messages if "seq" in m)
    outcome = max(m["n"] for m in client.of("outcome"))
    time.sleep(1)
    again = Client(server, "tunnel", f"?last_event_id={event}&last_outcome={outcome}")
    assert again.until(lambda m: m["kind"] == "credit")["newest"] == 5
    again.send_picture(pictures[6], 6, 1_200_000)
    assert again.until(lambda m: m.get("frame") == 6)
    assert sorted(set(client.outcomes()) | set(again.outcomes())) == [1, 2, 3, 4, 5, 6]
    assert not set(client.outcomes()) & set(again.outcomes())
    numbers = [m["seq"] for m in again.messages if "seq" in m]
    assert numbers == list(range(event + 1, event + 1 + len(numbers)))
    again.close()


def test_two_sockets_one_sends_and_one_watches(server, make, pictures):
    make("pair")
    sender, watcher = Client(server, "pair"), Client(server, "pair", "?push=false")
    sender.send_picture(pictures[0], 1, 0)
    assert sender.until(lambda m: m["kind"] == "outcome")
    assert watcher.until(lambda m: m.get("reason") == "up")
    assert not watcher.of("credit") and not watcher.of("outcome")
    with contextlib.suppress(Exception):
        watcher.send(picture(pictures[0][:3000], 2, 0))
    # a second sender takes over, and the first is told
    second = Client(server, "pair")
    second.send_picture(pictures[1], 2, 200_000)
    assert second.until(lambda m: m.get("frame") == 2)["outcome"] == "seen"
    sender.drain(5)
    assert sender.code == 4000
    second.close()


def test_events_of_any_stream_come_by_socket_too(server, media):
    body = {"id": "filed", "source": "file:///clip.mp4", "senses": ["see"], "prompts": ["What do you see?"]}
    assert server.request("POST", "/v1/streams", body)[0] == 201
    client = Client(server, "filed")
    client.drain()
    assert client.code == 1000 and client.messages[-1]["reason"] == "ended"
    assert {"answer", "stats"} <= {m["kind"] for m in client.messages}
    again = Client(server, "filed", f"?last_event_id={client.messages[-2]['seq']}")
    assert [m["reason"] for m in again.drain()] == ["ended"]


@pytest.mark.parametrize("header, told", [
    ({"kind": 4}, "type is 4"), ({"kind": 0}, "type is 0"), ({"seq": 0}, "seq is 0"), ({"seq": 2 ** 60}, "seq is"),
    ({"capture_us": 2 ** 60}, "capture_us is"), ({"size": 5}, "bytes is 5"), ({"first": 7}, "width is 7"),
    ({"payload": b"GIF89a"}, "no JPEG, PNG or WebP"), ({"kind": 2}, "format is 0"),
    ({"kind": 2, "form": 1, "first": 16385, "second": 1, "third": 1}, "width is 16385"),
    ({"kind": 2, "form": 1, "first": 2 ** 32 - 1, "second": 2 ** 32 - 1, "third": 2 ** 32 - 1}, "width is"),
    ({"kind": 2, "form": 1, "first": 4, "second": 4, "third": 12}, "size is"),
    ({"kind": 3, "form": 1, "first": 1}, "rate is 1"), ({"kind": 3, "form": 1, "first": RATE}, "whole samples")])
def test_hostile_headers_are_told_and_the_socket_goes_on(server, make, pictures, header, told):
    make("hostile")
    client = Client(server, "hostile")
    client.send(packet(**{"kind": 1, "payload": b"\xff\xd8\xff", "seq": 9, "capture_us": 0, **header}))
    error = client.until(lambda m: m["kind"] == "error")
    assert told in error["text"] and error["code"] == "usage", error
    client.send_picture(pictures[0], 10, 0)
    assert client.until(lambda m: m.get("frame") == 10 and m["kind"] == "outcome")["outcome"] == "seen"
    client.close()


def test_broken_bytes_are_corrupt_and_fall_to_the_worker(server, make, pictures):
    make("broken")
    client = Client(server, "broken")
    for seq, bad in enumerate([pictures[0][:2000], b"\xff\xd8\xff" + os.urandom(5000), b"\x89PNG\r\n\x1a\n" + b"x" * 99,
                               b"RIFF\x10\0\0\0WEBPVP8 " + b"\0" * 20], 1):
        client.send_picture(bad, seq, seq * 100_000)
        assert client.until(lambda m: m["kind"] == "outcome")["reason"] == "corrupt"
    client.send_picture(pictures[0], 50, 1_000_000)
    assert client.until(lambda m: m.get("frame") == 50)["outcome"] == "seen"
    client.close()


def test_numbers_that_do_not_rise_wrong_texts_and_too_many_of_them(server, make, pictures):
    make("wrong")
    client = Client(server, "wrong")
    client.send_picture(pictures[0], 5, 0)
    client.send(picture(pictures[0], 5, 0))
    assert "allowed are more than 5" in client.until(lambda m: m["kind"] == "error")["text"]
    for text in ("", "{", "[]", '{"type":"dance"}', '{"type":1}', '{"a":' * 50, "x" * 5000):
        client.send(text)
        assert client.until(lambda m: m["kind"] == "error"), text
    for _ in range(20):
        with contextlib.suppress(Exception):
            client.send("no")
    client.drain(10)
    assert client.code == 1008
    assert server.request("GET", "/v1/streams/wrong")[0] == 200  # the stream lives


def test_sound_is_never_dropped_but_more_than_granted_closes(server, make):
    make("loud", senses=["hear"])
    client = Client(server, "loud")
    client.until(lambda m: m["kind"] == "credit")
    with contextlib.suppress(Exception):
        for seq in range(1, 400):
            client.send(sound(b"\0" * (RATE * 2), seq, seq * 1_000_000))
    client.drain(10)
    assert client.code == 4001
    assert "the credit is" in client.of("error")[-1]["text"]


def test_messages_that_are_too_large_or_unpack_to_too_much(server, make):
    for name, compression in (("large", None), ("bomb", "deflate")):
        make(name)
        client = Client(server, name, compression=compression)
        with contextlib.suppress(Exception):
            client.send(b"\0" * (17 << 20))
        client.drain(20)
        assert client.code in (1009, -1), name
    assert server.request("GET", "/readyz")[0] == 200


def test_deflate_is_used_when_the_client_offers_it(server, make, pictures):
    make("packed", prompts=["What do you see?"])
    client = Client(server, "packed", compression="deflate")
    assert "permessage-deflate" in client.socket.response.headers["Sec-WebSocket-Extensions"]
    client.send_picture(pictures[0], 1, 0)
    assert client.until(lambda m: m["kind"] == "answer")["text"]
    client.close()
    plain = Client(server, "packed", "?push=false", compression=None)
    assert "Sec-WebSocket-Extensions" not in plain.socket.response.headers
    assert plain.until(lambda m: m["kind"] == "answer")
    plain.close()


def status_of(server, stream, **options):
    with pytest.raises(InvalidStatus) as refused:
        Client(server, stream, **options)
    response = refused.value.response
    return response.status_code, json.loads(response.body)["error"]["code"]


def test_t22_pages_of_others_and_other_names_are_refused(server, make):
    make("guarded")
    assert status_of(server, "guarded", origin="https://evil.example") == (403, "origin_not_allowed")
    host = {"Host": "evil.example"}
    reply = server.raw(b"GET /v1/streams/guarded/socket HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\n"
                       b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                       b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    assert b"host_not_allowed" in reply, (host, reply)
    assert status_of(server, "nobody")[0] == 404
    own = Client(server, "guarded", origin=server.url)
    own.close()


@pytest.mark.parametrize("change, status", [
    ({"Upgrade": None}, 426), ({"Upgrade": "h2c"}, 426), ({"Connection": "close"}, 426),
    ({"Sec-WebSocket-Version": "8"}, 426), ({"Sec-WebSocket-Key": None}, 400), ({"Sec-WebSocket-Key": "short"}, 400),
    ({}, 101)])
def test_handshakes_that_are_none(server, make, change, status):
    make("shaken")
    headers = {"Host": f"127.0.0.1:{server.port}", "Connection": "Upgrade", "Upgrade": "websocket",
               "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **change}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
    reply = server.raw(f"GET /v1/streams/shaken/socket HTTP/1.1\r\n{lines}\r\n".encode(), quiet=0.5)
    assert reply.startswith(f"HTTP/1.1 {status} ".encode()), reply
    if status == 426:
        assert b"Sec-WebSocket-Version: 13" in reply and b"upgrade_required" in reply
    if status == 101:
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in reply


def handshake(server, stream):
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    raw.sendall(f"GET /v1/streams/{stream}/socket HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: Upgrade\r\n"
                "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
    return raw


@pytest.mark.parametrize("frame", [
    b"\x82\x01x", b"\xf2\x81\0\0\0\0x", b"\x83\x81\0\0\0\0x", b"\x82\xff" + b"\xff" * 8 + b"\0\0\0\0",
    b"\x89\xfe\x01\0" + b"\0" * 300, b"\x81\x82\0\0\0\0\xff\xff", b"\x80\x81\0\0\0\0x", b"\x09\x80\0\0\0\0",
    b"\x88\x82\0\0\0\0\x03\xed", b"GET / HTTP/1.1\r\n\r\n"],
    ids=["unmasked", "reserved bits", "reserved type", "endless", "long ping", "no utf-8", "nothing to continue",
         "broken ping", "forbidden code", "http"])
def test_frames_that_break_the_protocol_end_the_socket_only(server, make, pictures, frame):
    make("fuzzed")
    with handshake(server, "fuzzed") as raw:
        raw.sendall(frame)
        with contextlib.suppress(ConnectionResetError):
            while raw.recv(4096):
                pass
    client = Client(server, "fuzzed")
    client.send_picture(pictures[0], 1, 0)
    assert client.until(lambda m: m["kind"] == "outcome")["outcome"] == "seen"
    client.close()


def test_keys_come_by_header_or_protocol_and_tenants_stay_apart(tmp_path, pictures):
    (tmp_path / "keys").write_text(KEYS)
    running = Server("--api-key-file", tmp_path / "keys")
    try:
        bearer = {"Authorization": "Bearer key-of-alice"}
        body = {"id": "hers", "source": "push", "senses": ["see"]}
        assert running.request("POST", "/v1/streams", body, bearer)[0] == 201
        assert status_of(running, "hers") == (401, "invalid_api_key")
        wrong = ["saccade.v1", key_protocol("key-of-nobody")]
        assert status_of(running, "hers", subprotocols=wrong) == (401, "invalid_api_key")
        other = ["saccade.v1", key_protocol("key-of-bob")]
        assert status_of(running, "hers", subprotocols=other) == (404, "no_such_stream")
        assert status_of(running, "hers?api_key=key-of-alice") [0] in (401, 404)
        with_header = Client(running, "hers", additional_headers=bearer)
        with_header.close()
        client = Client(running, "hers", subprotocols=["saccade.v1", key_protocol("key-of-alice")])
        assert client.socket.subprotocol == "saccade.v1"
        client.send_picture(pictures[0], 1, 0)
        assert client.until(lambda m: m["kind"] == "outcome")["outcome"] == "seen"
        client.close()
        assert "key-of-alice" not in "".join(running.log)
    finally:
        assert running.stop() == 0, running.log


def test_a_key_with_a_rate_is_held_to_it(tmp_path):
    (tmp_path / "keys").write_text("alice key-of-alice rate=60\nbob key-of-bob\n")
    running = Server("--api-key-file", tmp_path / "keys")
    try:
        alice, bob = ({"Authorization": f"Bearer key-of-{name}"} for name in ("alice", "bob"))
        replies = [running.request("GET", "/v1/models", headers=alice) for _ in range(30)]
        assert [status for status, _, _ in replies[:10]] == [200] * 10
        status, headers, body = replies[-1]
        assert status == 429 and body["error"]["code"] == "rate_limit_exceeded" and int(headers["Retry-After"]) >= 1
        assert running.request("GET", "/v1/models", headers=bob)[0] == 200
        assert running.request("GET", "/livez")[0] == 200
    finally:
        assert running.stop() == 0, running.log


def test_sockets_are_bounded(server, make):
    make("many")
    clients = [Client(server, "many", "?push=false") for _ in range(16)]
    assert status_of(server, "many") == (429, "too_many_sockets")
    assert server.metric("saccade_sockets") >= 16
    for client in clients:
        client.close()
    again = until(lambda: server.metric("saccade_sockets") == 0)
    assert again
    Client(server, "many").close()


# F4: who takes nothing loses events, not the stream its pace
def test_f4_a_socket_that_takes_nothing_holds_nobody_up(server, make, pictures):
    make("stuck", refresh_s=0.1, prompts=["What do you see?"])
    stuck = Client(server, "stuck", "?push=false", compression=None)
    sender = Client(server, "stuck")
    for seq in range(1, 41):
        sender.send_picture(pictures[seq % len(pictures)], seq, seq * 200_000)
        sender.until(lambda m: m["kind"] == "outcome")
    assert len(sender.outcomes()) == 40
    sender.close()
    stuck.close()


def test_delete_ends_the_socket_with_a_last_status(server, make, pictures):
    make("deleted")
    client = Client(server, "deleted")
    client.send_picture(pictures[0], 1, 0)
    assert client.until(lambda m: m["kind"] == "outcome")
    assert server.request("DELETE", "/v1/streams/deleted")[0] == 200
    client.drain(10)
    assert client.code == 1000 and client.messages[-1]["reason"] == "ended"


def test_f18_a_server_that_stops_says_so(pictures):
    running = Server()
    body = {"id": "last", "source": "push", "senses": ["see"]}
    assert running.request("POST", "/v1/streams", body)[0] == 201
    client = Client(running, "last")
    for seq in range(1, 5):
        client.send_picture(pictures[seq], seq, seq * 1000)
    begun = time.monotonic()
    assert running.stop() == 0, running.log
    assert time.monotonic() - begun < 15
    client.drain(10)
    assert client.code == 1001
    assert client.messages[-1]["kind"] == "status" and client.messages[-1]["reason"] == "ended"
    # whatever was accepted has its outcome
    assert len(client.outcomes()) == 4


def test_a_stream_nobody_comes_back_to_ends(server, make, pictures):
    make("left")
    client = Client(server, "left")
    client.send_picture(pictures[0], 1, 0)
    assert client.until(lambda m: m["kind"] == "outcome")
    client.lose()
    watcher = Client(server, "left", "?push=false")
    last = watcher.until(lambda m: m.get("reason") == "failed" and "no client for 30 s" in m["text"], 45)
    assert last
    watcher.close()


def test_a_dead_peer_is_closed(server, make):
    """A client that answers no ping: nothing is read from it and nothing comes."""
    make("dead")
    with handshake(server, "dead") as raw:
        raw.settimeout(45)
        begun, pinged = time.monotonic(), False
        with contextlib.suppress(ConnectionResetError):
            while piece := raw.recv(4096):
                pinged |= struct.pack("BB", 0x89, 0) in piece
        assert pinged and 20 < time.monotonic() - begun < 40
