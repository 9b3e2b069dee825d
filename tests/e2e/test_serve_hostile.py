"""Hostile requests: each test names the row of threats and faults, or the report, it stands for."""
import base64
import contextlib
import io
import json
import os
import pathlib
import random
import re
import resource
import socket
import struct
import subprocess
import time
import zlib

import pytest
from conftest import SACCADE, SAMPLE, saccade
from PIL import Image
from serve_tools import Server, image, text, until

CANARY = "canary-secret-7f3a"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("media")
    (folder / "open").mkdir()
    Image.new("RGB", (64, 64), "red").save(folder / "open" / "red.png")
    (folder / "secret.txt").write_text(CANARY)
    (folder / "open" / "out").symlink_to("../secret.txt")
    running = Server("--media-path", folder / "open", "--queue-max", "4", "--parallel", "1")
    yield running
    assert running.process.poll() is None, running.log
    assert running.request("GET", "/livez")[0] == 200
    assert running.stop() == 0, running.log


def png_bytes(picture):
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def as_url(data, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def refused(reply, statuses=(400,)):
    """The error object; nothing in it may come from inside the process."""
    status, _, body = reply
    assert status in statuses, (status, body)
    error = body["error"]
    assert set(error) >= {"message", "type", "param", "code"}
    assert not re.search(r"\b0x[0-9a-f]{4}", json.dumps(body)), body
    for leak in ("/proc", "/tmp", "/work", "memfd", "src/", ".cpp", "Traceback", CANARY):
        assert leak not in json.dumps(body), body
    return error


# --- media -------------------------------------------------------------------------------------------------

T1_URLS = [f"{scheme}://{host}/x.png" for scheme in ("http", "https", "HTTP", "ftp", "gopher", "rtsp", "ws")
           for host in ("127.0.0.1", "localhost", "[::1]", "[::]", "0.0.0.0", "0", "127.1", "2130706433",
                        "0x7f000001", "0177.0.0.1", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "169.254.169.254",
                        "10.0.0.1", "192.168.0.1", "example.com", "a@127.0.0.1", "example.com\\@127.0.0.1",
                        "127.0.0.1。", "metadata.google.internal")]


def test_t1_t2_no_url_with_a_host_is_ever_fetched(server):
    for url in T1_URLS:
        refused(server.chat([image(url), text("?")]))


def test_t1_a_listening_host_sees_no_connection(server):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.3)
        refused(server.chat([image(f"http://127.0.0.1:{listener.getsockname()[1]}/x.png"), text("?")]))
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.parametrize("playlist", [
    "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/a.ts\n",
    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nconcat:file:///etc/passwd\n", "ffconcat version 1.0\nfile /etc/passwd\n",
    "<MPD><BaseURL>file:///etc/passwd</BaseURL></MPD>", "v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n",
    "<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
    "[playlist]\nFile1=file:///etc/passwd\n"])
def test_t4_playlists_and_references_are_no_media(server, playlist):
    part = {"type": "video_url", "video_url": {"url": as_url(playlist.encode(), "video/mp4")}}
    assert "root:" not in str(refused(server.chat([part, text("?")])))


def png_claiming(width, height):
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# vllm#47010, sglang#28587: a small file that asks for gigabytes
@pytest.mark.parametrize("size", [(50_000, 50_000), (16_385, 10), (1, 16_385), (16_000, 16_000), (0, 0),
                                  (2**31 - 1, 2**31 - 1)])
def test_t5_decompression_bombs_are_refused_by_their_header(server, size):
    before, started = server.memory_kb(), time.monotonic()
    refused(server.chat([image(as_url(png_claiming(*size))), text("?")]))
    assert time.monotonic() - started < 5
    assert server.memory_kb() - before < 64 << 10


# CVE-2026-34755: thousands of frames in one body
def test_t6_a_list_of_frames_is_refused_quickly(server):
    frame = base64.b64encode(png_bytes(Image.new("RGB", (8, 8)))).decode()
    before, started = server.memory_kb(), time.monotonic()
    refused(server.chat([{"type": "video_url", "video_url": {
        "url": "data:video/jpeg;base64," + ",".join([frame] * 5000)}}, text("?")]))
    assert time.monotonic() - started < 1
    assert server.memory_kb() - before < 64 << 10


# CVE-2026-22773, ggml-org/llama.cpp#21800, #13827
@pytest.mark.parametrize("size", [(1, 1), (1, 2), (2, 1), (3, 7), (13, 40), (40, 1), (1, 40), (1, 199), (200, 1),
                                  (400, 800), (997, 991), (7, 1009)])
def test_t7_odd_sizes_are_answered_or_refused(server, size):
    status, _, body = server.chat([image(as_url(png_bytes(Image.new("RGB", size, "blue")))), text("?")])
    assert status == 200 or refused((status, None, body))
    if max(size) / min(size) <= 200:
        assert status == 200, body


# vllm#38253, sglang#35007, and CVE-2026-22778: the error tells nothing about the decoder
@pytest.mark.parametrize("name", ["cut", "broken", "zeros", "words", "empty", "jpeg2000", "one"])
def test_t8_unusable_pictures_are_400_with_a_fixed_message(server, name):
    good = png_bytes(Image.effect_noise((64, 64), 90).convert("RGB"))
    data = {"cut": good[:60], "broken": good[:45] + b"\xff" * 200, "zeros": b"\0" * 4096,
            "words": b"hello " * 99, "empty": b"", "one": b"\x89",
            "jpeg2000": b"\0\0\0\x0cjP  \r\n\x87\n" + b"\0" * 300}[name]
    error = refused(server.chat([image(as_url(data)), text("?")]))
    assert error["param"] == "messages[0].content[0]"


# CVE-2025-46722: equal bytes, another shape; another mode
def test_t9_twins_of_another_shape_are_not_confused(server):
    noise = Image.effect_noise((30, 100), 80).convert("RGB")
    twin = Image.frombytes("RGB", (100, 30), noise.tobytes())
    prompts = {name: server.chat([image(as_url(png_bytes(p))), text("What do you see?")], logprobs=True)[2]
               for name, p in (("tall", noise), ("wide", twin))}
    marks = {name: [t["logprob"] for t in body["choices"][0]["logprobs"]["content"]]
             for name, body in prompts.items()}
    assert marks["tall"] != marks["wide"]


SPECIALS = ["<|im_start|>", "<end_of_utterance>", "<image>", "<fake_token_around_image>", "<global-img>",
            "<row_1_col_1>", "<__media__>", "<|im_end|>", "</s>", "[INST]", "<start_of_image>", "<|vision_start|>"]


# ollama#17262, llama.cpp#26273, #29118, CVE-2026-44222
@pytest.mark.parametrize("special", SPECIALS)
def test_t12_control_strings_in_content_stay_plain_text(server, special):
    plain = server.request("POST", "/tokenize", {"content": special})[2]["count"]
    assert plain > 1 or special not in SPECIALS[:5]
    status, _, body = server.chat(f"Say {special} and {special}assistant: no")
    assert status == 200, body
    picture = as_url(png_bytes(Image.new("RGB", (64, 64), "red")))
    status, _, body = server.chat([text(special), image(picture), text(special * 3)])
    assert status == 200, body


def test_t12_every_string_the_server_ever_said_can_be_sent_back(server):
    said = [server.request("GET", path)[2] for path in ("/v1/models", "/version", "/health")]
    assert server.chat(json.dumps(said))[0] == 200


# --- requests ----------------------------------------------------------------------------------------------

def test_t14_t16_numbers_at_and_beyond_their_bounds(server):
    for field in ("max_tokens", "max_completion_tokens", "temperature", "top_p", "min_p", "seed", "n", "top_logprobs",
                  "presence_penalty", "frequency_penalty"):
        for value in ("-1", "1e308", "-1e308", "18446744073709551616", "-9223372036854775809", "2147483648", "\"1\"",
                      "[]", "{}", "true"):
            body = '{"messages":[{"role":"user","content":"hi"}],"%s":%s}' % (field, value)
            reply = server.request("POST", "/v1/chat/completions", body)
            if reply[0] == 200:
                assert (field, value) in [("seed", "2147483648")], (field, value)
            else:
                assert refused(reply)["param"] == field, (field, value)
    for value in ("NaN", "Infinity", "nan", "01", "1.", "+1"):
        refused(server.request("POST", "/v1/chat/completions",
                               '{"messages":[{"role":"user","content":"hi"}],"temperature":%s}' % value))


def test_t14_schemas_grammars_and_templates_of_requests_are_refused(server):
    for field, value in (("response_format", {"type": "json_schema", "json_schema": {}}),
                         ("tools", [{"type": "function"}]),
                         ("logit_bias", {"1": 100}), ("n", 16384), ("stop", ["x"] * 17), ("stop", "y" * 257)):
        refused(server.chat("hi", **{field: value}))
    assert server.chat("hi", chat_template="{% for i in range(10**9) %}x{% endfor %}")[0] == 200  # ignored


# corpus: no single source
@pytest.mark.parametrize("body", [
    "", " ", "null", "[]", "{}", '"x"', '{"messages":[]}', '{"messages":null}',
    '{"messages":[{"role":"user","content":null}]}',
    '{"messages":[{"role":"user","content":""}]}', '{"messages":[{"role":"user","content":[]}]}',
    '{"messages":[{"role":"user","content":"a","content":"b"}]}',
    '{"messages":[{"role":"user","content":"\\ud800"}]}',
    '{"messages":[{"role":"user","content":"\\ud800\\u0041"}]}', '{"messages":[{"role":"user","content":"\x01"}]}',
    "[" * 100_000, '{"a":' * 50_000, '{"messages":[{"role":"user","content":"' + "x" * 1_100_000 + '"}]}'])
def test_corpus_bodies_that_ask_nothing_are_400(server, body):
    refused(server.request("POST", "/v1/chat/completions", body.encode("utf-8", "surrogatepass")))


def test_corpus_a_ten_megabyte_line_is_refused_within_a_second(server):
    started = time.monotonic()
    refused(server.chat("a" * 10_000_000))
    assert time.monotonic() - started < 2


def test_corpus_only_pictures_are_answered(server):
    assert server.chat([image(as_url(png_bytes(Image.new("RGB", (64, 64), "red"))))])[0] == 200


# corpus 1: hidden colours under a transparent pixel
def test_corpus_transparent_pixels_are_white(server):
    hidden = Image.new("RGBA", (96, 96), (255, 0, 0, 0))
    white = Image.new("RGB", (96, 96), "white")
    said = [server.chat([image(as_url(png_bytes(p))), text("What do you see?")])[2]["choices"][0]["message"]
            for p in (hidden, white)]
    assert said[0] == said[1]


# corpus 3, 4
def test_corpus_animations_and_other_formats_are_pictures(server):
    frames = [Image.new("P", (64, 64), i) for i in range(8)]
    for kind, options in (("GIF", dict(save_all=True, append_images=frames[1:])), ("WEBP", {}), ("JPEG", {}),
                          ("BMP", {})):
        out = io.BytesIO()
        (frames[0] if kind == "GIF" else frames[0].convert("RGB")).save(out, kind, **options)
        status, _, body = server.chat([image(as_url(out.getvalue())), text("?")])
        assert status == 200, (kind, body)


# corpus 8: the eleventh picture
@pytest.mark.parametrize("count", [11, 33])
def test_corpus_many_pictures_fit_or_are_refused_with_counts(server, count):
    pictures = [image(as_url(png_bytes(Image.new("RGB", (64, 64), (i * 7, 0, 0))))) for i in range(count)]
    status, _, body = server.chat(pictures + [text("How many?")])
    assert status == 200 or refused((status, None, body))["n_ctx"] > 0


# --- files -------------------------------------------------------------------------------------------------

def test_files_are_served_from_below_the_media_folder_only(server):
    assert server.chat([image("file:///red.png"), text("?")])[0] == 200
    for path in ("../secret.txt", "/../secret.txt", "out", "..%2fsecret.txt", "%2e%2e/secret.txt", "//etc/passwd",
                 "proc/self/environ", "", ".", "red.png%00.txt"):
        refused(server.chat([image("file:///" + path), text("?")]), (400, 422))


# --- HTTP --------------------------------------------------------------------------------------------------

def test_t18_slow_and_endless_heads_hold_nobody_up(server):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(500)]
        for sock in slow:
            sock.sendall(b"GET /livez HTTP/1.1\r\nX-")
        started = time.monotonic()
        assert server.request("GET", "/livez")[0] == 200
        assert time.monotonic() - started < 1
        assert until(lambda: server.metric("saccade_connections") < 50, 15)  # kHeadSeconds


def test_t18_a_body_that_is_too_large_is_refused_before_it_is_sent(server):
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {65 << 20}\r\n\r\n"
    assert b"413 Content Too Large" in server.raw(head.encode())


def test_t22_pages_of_other_origins_and_rebound_names_reach_nothing(server):
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                    {"Host": "127.0.0.1.evil.example"}):
        assert refused(server.request("GET", "/v1/models", headers=headers), (403,))
        assert refused(server.request("POST", "/v1/chat/completions", "{}", headers), (403,))
    preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    status, headers, _ = server.request("OPTIONS", "/v1/chat/completions", headers=preflight)
    assert status == 403 and "Access-Control-Allow-Origin" not in headers


def test_unknown_routes_and_methods_have_the_error_shape(server):
    assert refused(server.request("GET", "/v1/nothing"), (404,))["type"] == "not_found_error"
    status, headers, _ = server.request("DELETE", "/v1/models")
    assert status == 405 and headers["Allow"] == "GET"
    refused(server.request("GET", "/v1/models", body="x" * 10), (413,))


# --- faults ------------------------------------------------------------------------------------------------

def start_chat(server, stream, sleep=0.0):
    body = json.dumps({"messages": [{"role": "user", "content": "Tell me a story."}], "stream": stream,
                       "max_tokens": 1500, "temperature": 1.9, "seed": 3})
    sock = socket.create_connection(("127.0.0.1", server.port))
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    sock.sendall((head + body).encode())
    time.sleep(sleep)
    return sock


def idle(server):
    sample = server.metrics()
    return sample["saccade_queue_running"] == 0 and sample["saccade_queue_waiting"] == 0


def test_f1_work_of_clients_that_vanish_ends(server):
    rng = random.Random(1)
    for i in range(40):
        start_chat(server, stream=i % 2 == 0, sleep=rng.random() * 0.05).close()
    assert until(lambda: idle(server), 10)
    assert server.chat("hi")[0] == 200


def test_f2_the_one_too_many_is_refused_at_once_and_told_when_to_return(server):
    waiting = []
    try:
        # A story may end between the filling and the question, which then finds room: fill again.
        for _ in range(10):
            waiting += [start_chat(server, stream=True) for _ in range(30)]
            until(lambda: server.metric("saccade_queue_waiting") >= 4)
            started = time.monotonic()
            status, headers, body = server.chat("hi")
            spent = time.monotonic() - started
            if status != 200:
                break
        assert status == 429 and int(headers["Retry-After"]) >= 1 and body["error"]["code"] == "queue_full"
        assert spent < 0.5, spent
    finally:
        for sock in waiting:
            sock.close()
    assert until(lambda: idle(server), 10)


def test_f3_work_whose_deadline_passed_never_starts(server):
    busy = [start_chat(server, stream=True, sleep=0.05) for _ in range(3)]
    try:
        encoded = server.metric("saccade_visual_tokens_total")
        started = time.monotonic()
        reply = server.chat([image(as_url(png_bytes(Image.new("RGB", (64, 64), "red")))), text("?")],
                            headers={"X-Request-Deadline-Ms": "20"})
        assert refused(reply, (504,))["code"] == "deadline_exceeded"
        assert time.monotonic() - started < 2
    finally:
        for sock in busy:
            sock.close()
    assert until(lambda: idle(server), 10)
    assert server.metric("saccade_visual_tokens_total") == encoded
    for bad in ("0", "-1", "soon", "1e3", "99999999999"):
        refused(server.chat("hi", headers={"X-Request-Deadline-Ms": bad}))


def test_f4_a_reader_that_takes_nothing_costs_bounded_memory(server):
    before = server.memory_kb()
    sock = start_chat(server, stream=True)
    assert until(lambda: idle(server), 60)  # the answer was written out, or given up
    assert server.memory_kb() - before < 16 << 10
    sock.close()


def test_f12_a_decode_worker_that_dies_costs_one_request(server):
    clip = as_url(SAMPLE.read_bytes()[: 200_000], "video/mp4")  # truncated: MOOV may be missing
    status, _, body = server.chat([{"type": "video_url", "video_url": {"url": clip}}, text("?")])
    assert status == 200 or refused((status, None, body))
    assert server.chat("hi")[0] == 200


def test_t26_secrets_are_in_no_log(server):
    server.request("GET", "/v1/models", headers={"Authorization": f"Bearer {CANARY}"})
    server.chat([image(as_url(CANARY.encode())), text(CANARY)])
    server.request("POST", "/v1/streams", {"source": f"rtsp://user:{CANARY}@nowhere/x"})
    assert CANARY not in "".join(server.log)
    assert CANARY not in server.request("GET", "/metrics", port=server.admin)[2]


# --- start-up ----------------------------------------------------------------------------------------------

def test_t21_a_bind_that_others_reach_needs_a_key(tmp_path):
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        run = saccade("serve", "--host", host, "--port", "0")
        assert run.code == 2 and "api-key-file" in run.err, run.err
    (tmp_path / "none").write_text("# nothing\n")
    run = saccade("serve", "--host", "0.0.0.0", "--api-key-file", tmp_path / "none")
    assert run.code == 2 and "no key" in run.err
    run = saccade("serve", "--admin-listen", "0.0.0.0:9")
    assert run.code == 2 and "admin-listen" in run.err


def test_t20_with_keys_only_the_health_routes_are_open(tmp_path):
    (tmp_path / "keys").write_text("alice key-of-alice\nroot key-of-root admin\n")
    running = Server("--api-key-file", tmp_path / "keys")
    try:
        assert running.request("GET", "/livez")[0] == 200
        for method, path in (("GET", "/v1/models"), ("GET", "/metrics"), ("POST", "/v1/chat/completions"),
                             ("GET", "/v1/streams"), ("GET", "/v1/streams/x/events"), ("GET", "/nothing")):
            status, headers, body = running.request(method, path)
            assert status == 401 and headers["WWW-Authenticate"] == "Bearer"
            assert body["error"]["type"] == "authentication_error"
        def with_key(key, path):
            return running.request("GET", path, headers={"Authorization": f"Bearer {key}"})[0]
        assert with_key("key-of-alice", "/v1/models") == 200
        assert with_key("key-of-alice", "/metrics") == 403
        assert with_key("key-of-root", "/metrics") == 200
        assert with_key("key-of-nobody", "/v1/models") == 401
        assert running.request("GET", "/metrics", port=running.admin)[0] == 200
        assert running.request("GET", "/v1/models", port=running.admin)[0] in (401, 404)
    finally:
        assert running.stop() == 0, running.log


def test_f18_a_drained_server_finishes_what_it_began():
    running = Server()
    sock = start_chat(running, stream=True, sleep=0.2)
    sock.settimeout(30)
    started = time.monotonic()
    assert running.stop() == 0, running.log
    assert time.monotonic() - started < 30
    out = b""
    while piece := sock.recv(65536):
        out += piece
    assert b"data: [DONE]\n\n" in out and out.endswith(b"0\r\n\r\n"), out[-300:]


def test_f19_a_killed_server_leaves_nothing_in_the_way(tmp_path):
    path = tmp_path / "socket"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SACCADE_")}
    for _ in range(3):
        process = subprocess.Popen([SACCADE, "serve", "--host", path], stderr=subprocess.PIPE,
                                   env={**environment, "OMP_WAIT_POLICY": "passive"})
        line = process.stderr.readline().decode()
        assert re.search(r"serving on unix:", line), line
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(path))
            sock.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b"200 OK" in sock.recv(4096)
        process.kill()
        process.wait()


def cpu_ticks(running):
    stat = pathlib.Path(f"/proc/{running.process.pid}/stat").read_text()
    return sum(int(field) for field in stat.rsplit(")", 1)[1].split()[11:13])


def test_f23_running_out_of_descriptors_is_survived():
    running = Server()
    try:
        resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (80, 80))
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=5))
            time.sleep(0.5)
            before = cpu_ticks(running)
            time.sleep(1)
            assert cpu_ticks(running) - before < 20  # of 100 per second: no spinning
        assert until(lambda: running.request("GET", "/livez")[0] == 200)
    finally:
        assert running.stop() == 0, running.log
