"""The console in a real browser on the real server: watched, asked, steered, and attacked."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest
from conftest import ROOT, SAMPLE
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import expect, sync_playwright
from serve_tools import Server, until

CONSOLE = ROOT / "console"
SHOTS = ROOT / "build/console-shots"
ROOM = {"source": "file:///control-room.mp4", "id": "room", "realtime": True, "loop": True,
        "prompts": [{"id": "caption", "text": "What do you see?"}], "alerts": ["Is there a red circle?"]}
POLICY = ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
          "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'")
# The browser tells every reply of 400 and above by itself.
NO_PICTURE_YET = ("404 (Not Found)",)


@pytest.fixture(scope="module")
def server():
    running = Server("--media-path", SAMPLE.parent, "--allow-source", "127.0.0.1:9")
    yield running
    assert running.stop() == 0, running.log


@pytest.fixture(scope="module")
def browser():
    # Chromium's own sandbox wants a user; tests may run as root in a container.
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as tool:
        running = tool.chromium.launch(executable_path=shutil.which("chromium"), args=args)
        yield running
        running.close()


class Eye:
    """A page of which everything is noted that must not happen."""

    def __init__(self, browser, server, **context):
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **context)
        self.page = self.context.new_page()
        self.server = server
        self.told, self.foreign, self.dialogs = [], [], []
        self.page.on("console", lambda message: self.told.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.told.append(f"thrown: {error}"))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.on("request", self._note)

    def _note(self, request):
        if not request.url.startswith((self.server.url + "/", "blob:")):
            self.foreign.append(request.url)

    def open(self, where="/"):
        self.page.goto(self.server.url + where)
        return self.page

    def shot(self, name, whole=False):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=whole)

    def check(self, allowed=()):
        """Nothing left the origin, nothing broke the policy, nothing was thrown."""
        allowed = (*allowed, "willReadFrequently")  # colours() reads canvases
        bad = [line for line in self.told if not any(part in line for part in allowed)]
        assert not bad and not self.foreign and not self.dialogs, (bad, self.foreign, self.dialogs)


@pytest.fixture
def eye(browser, server):
    made = []

    def look(of=server, **context):
        made.append(Eye(browser, of, **context))
        return made[-1]
    yield look
    for each in made:
        each.context.close()


@pytest.fixture
def room(server):
    assert server.request("POST", "/v1/streams", ROOM)[0] == 201
    yield "room"
    server.request("DELETE", "/v1/streams/room")


def picture(server, headers=None):
    """(status, headers, bytes) of the room's newest picture."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        connection.request("GET", "/v1/streams/room/picture", headers=headers or {})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()


def colours(page, selector):
    """How many colours a canvas shows, coarsely: more than a few is a picture."""
    return page.evaluate("""(selector) => {
      const canvas = document.querySelector(selector);
      if (!canvas || !canvas.width) return 0;
      const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let i = 0; i < pixels.length; i += 4 * 97) {
        seen.add((pixels[i] >> 4 << 8) | (pixels[i + 1] >> 4 << 4) | (pixels[i + 2] >> 4));
      }
      return seen.size;
    }""", selector)


def no_sideways(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# --- what the server sends


def test_the_page_is_strict_and_its_files_are_kept(server):
    status, headers, page = server.request("GET", "/")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert all(rule in headers["Content-Security-Policy"] for rule in POLICY)
    assert "unsafe" not in headers["Content-Security-Policy"] and "http" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-cache"
    assert server.request("GET", "/", headers={"If-None-Match": headers["ETag"]})[0] == 304
    files = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page)
    assert len(files) == 3 and "style=" not in page and not re.search(r"<script[^>]*>[^<]", page)
    for file in files:
        status, headers, text = server.request("GET", file)
        assert status == 200 and "immutable" in headers["Cache-Control"] and text
        assert headers["X-Content-Type-Options"] == "nosniff"
        status, headers, text = server.request("GET", file, headers={"If-None-Match": headers["ETag"]})
        assert status == 304 and not text and "Content-Length" not in headers
    assert server.request("HEAD", "/")[0] == 200 and server.request("POST", "/")[0] == 405


@pytest.mark.parametrize("path", ["/assets/", "/assets/none.js", "/assets/index.html", "/assets/../index.html",
                                  "/assets/%2e%2e/x", "/index.html", "//"])
def test_other_paths_hold_nothing(server, path):
    status, _, body = server.request("GET", path)
    assert status == 404 and body["error"]["code"] == "no_such_route"


def test_the_console_is_not_on_the_admin_listener_nor_under_foreign_names(server):
    assert server.request("GET", "/", port=server.admin)[0] == 404
    assert server.request("GET", "/", headers={"Host": "evil.example"})[0] == 403


def test_the_page_holds_what_its_sources_say(tmp_path):
    for command in (["typescript/bin/tsc", "--noEmit"],
                    ["vite/bin/vite.js", "build", "--logLevel", "warn", "--outDir", tmp_path, "--emptyOutDir"]):
        subprocess.run([ROOT / "tools/node.sh", *command], check=True)

    def files(folder):
        return {str(path.relative_to(folder)): path.read_bytes() for path in pathlib.Path(folder).rglob("*")
                if path.is_file()}
    assert files(tmp_path) == files(CONSOLE / "dist"), "console/dist is old: run `make console`"
    lock = (CONSOLE / "package-lock.json").read_text()
    assert '"resolved"' not in lock and '"integrity"' in lock


# --- the picture


def test_a_picture_is_small_rare_and_stamped(server, room):
    assert until(lambda: picture(server)[0] == 200)
    tags = []
    began = time.monotonic()
    while len(set(tags)) < 6 and time.monotonic() - began < 20:
        status, headers, body = picture(server)
        assert status == 200 and headers["Content-Type"] == "image/jpeg"
        assert body[:2] == b"\xff\xd8" and body[-2:] == b"\xff\xd9" and len(body) < 200_000
        frame = re.search(rb"\xff\xc0..\x08(..)(..)", body, re.S)
        assert int.from_bytes(frame[2], "big") == 640 and int.from_bytes(frame[1], "big") == 360
        assert headers["X-Source-Size"] == "1280x720"
        assert re.fullmatch(r"\d+\.\d{3}", headers["X-Media-Time"])
        tags.append(int(headers["ETag"].strip('"p')))
        time.sleep(0.02)
    assert tags == sorted(tags) and len(set(tags)) == 6
    assert time.monotonic() - began > 0.75  # five a second at most
    status, headers, body = picture(server, {"If-None-Match": "*"})
    assert status == 304 and not body and "X-Media-Time" in headers


def test_a_stream_that_has_shown_nothing_has_no_picture(server):
    assert server.request("POST", "/v1/streams", {"source": "rtsp://127.0.0.1:9/x", "id": "dark"})[0] == 201
    try:
        status, _, body = server.request("GET", "/v1/streams/dark/picture")
        assert status == 404 and body["error"]["code"] == "no_picture"
        assert body["error"]["type"] == "not_found_error"
    finally:
        server.request("DELETE", "/v1/streams/dark")
    assert server.request("GET", "/v1/streams/none/picture")[2]["error"]["code"] == "no_such_stream"


# --- the page


def test_a_source_is_added_watched_asked_and_removed(eye):
    it = eye()
    page = it.open()
    expect(page.get_by_role("heading", name="Nothing is being watched yet.")).to_be_visible()
    it.shot("empty")
    page.get_by_role("button", name="Add a source").click()
    page.get_by_role("textbox", name="Source").fill("file:///none.mp4")
    page.get_by_role("button", name="Start watching").click()
    wrong = page.locator("dialog .wrong")
    expect(wrong).to_contain_text("--media-path")
    expect(page.get_by_role("textbox", name="Source")).to_be_focused()
    it.shot("refused")
    page.get_by_role("textbox", name="Source").fill("file:///control-room.mp4")
    page.get_by_label("start over at the end").check()
    page.get_by_role("textbox", name="Name").fill("panel")
    page.get_by_role("button", name="+ Alert").click()
    page.get_by_role("textbox", name="Alert").fill("Is there a red circle?")
    page.get_by_role("button", name="Start watching").click()

    expect(page.get_by_role("heading", name="panel")).to_be_visible()
    expect(page.locator(".card.caption .said")).not_to_contain_text("not answered yet", timeout=20_000)
    expect(page.locator(".card.alert .said")).to_have_text(re.compile("Yes|No"), timeout=20_000)
    expect(page.locator(".events .text + .what").first).to_be_visible(timeout=20_000)
    assert until(lambda: colours(page, "canvas.picture") > 20), colours(page, "canvas.picture")
    assert until(lambda: colours(page, "canvas.timeline") > 8)
    assert until(lambda: colours(page, ".age canvas") > 2)
    expect(page.locator(".link")).to_have_text("connected")
    expect(page.locator('[data-name="state"] dd')).to_have_text("ready")
    expect(page.locator('[data-name="connections"] dd')).to_have_text(re.compile(r"[1-9]\d*"), timeout=8000)

    page.get_by_label("Question about what the stream shows now").fill("What do you see?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".ask-card .meta")).to_contain_text("whole", timeout=30_000)
    assert len(page.locator(".ask-card .said").inner_text()) > 5

    page.get_by_role("button", name="Prompts").click()
    page.locator('.row input[data-kind="prompt"]').fill("How many shapes are there?")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".card.caption h3")).to_have_text("How many shapes are there?")
    expect(page.locator(".events .knobs, .card.caption .said").first).to_be_visible()

    page.get_by_role("button", name="Remove").click()
    page.locator("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Nothing is being watched yet.")).to_be_visible()
    it.check(allowed=["422 (Unprocessable Content)", "404 (Not Found)"])


def test_looks_dark_light_and_small(eye, room):
    for scheme in ("dark", "light"):
        it = eye(color_scheme=scheme)
        page = it.open("/#/room")
        expect(page.locator(".events .text").first).to_be_visible(timeout=20_000)
        assert until(lambda page=page: colours(page, "canvas.picture") > 20)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        page.hover("canvas.timeline", position={"x": 700, "y": 90})
        it.shot(scheme)
        page.get_by_role("button", name="Theme").click()
        other = page.evaluate("document.documentElement.dataset.theme")
        assert other != scheme
        page.reload()
        assert page.evaluate("document.documentElement.dataset.theme") == other
        it.check(NO_PICTURE_YET)
    small = eye(color_scheme="dark")
    small.page.set_viewport_size({"width": 360, "height": 740})
    page = small.open("/#/room")
    expect(page.locator(".events .text").first).to_be_visible(timeout=20_000)
    assert until(lambda: colours(page, "canvas.picture") > 20)
    assert no_sideways(page)
    small.shot("small", whole=True)
    page.get_by_role("button", name="+ Add").click()
    expect(page.get_by_role("textbox", name="Source")).to_be_visible()
    assert no_sideways(page)
    small.shot("small-add")
    small.check(NO_PICTURE_YET)


def test_everything_is_reached_by_keys(eye):
    it = eye()
    page = it.open()
    expect(page.get_by_role("heading", name="Nothing is being watched yet.")).to_be_visible()
    press = page.keyboard.press
    press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    it.shot("help")
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press("a")
    page.keyboard.type("file:///control-room.mp4")
    press("Enter")
    expect(page.locator(".events .text").first).to_be_visible(timeout=20_000)
    press("/")
    expect(page.get_by_label("Question about what the stream shows now")).to_be_focused()
    page.keyboard.type("?")  # types, and does not open the help
    expect(page.get_by_role("dialog")).to_have_count(0)
    press("Escape")
    press("b")
    expect(page.get_by_role("button", name="Text boxes")).to_have_attribute("aria-pressed", "false")
    # Tab goes through all, and where it stands can be seen.
    page.locator(".skip").focus()
    reached = set()
    for _ in range(40):
        press("Tab")
        name, outlined = page.evaluate("""() => {
          const at = document.activeElement, style = getComputedStyle(at);
          const name = at.textContent.slice(0, 20) || at.className || at.name;
          return [name, style.outlineStyle !== 'none' || at === document.body];  // after the last comes the browser
        }""")
        assert outlined, name
        reached.add(name)
    assert {"+ Add", "Theme", "Prompts", "Export", "Remove", "timeline", "question"} <= reached, reached
    page.locator("canvas.timeline").focus()
    press("ArrowLeft")
    expect(page.locator(".readout .say").first).to_be_visible()
    press("-")
    expect(page.locator(".time .figure").first).to_have_text("2 min")
    press("End")
    expect(page.get_by_role("button", name="Live")).to_have_attribute("aria-pressed", "true")
    page.locator("canvas.timeline").blur()
    press("e")
    expect(page.get_by_role("dialog")).to_be_visible()
    press("Escape")  # closes in its own time; until then keys belong to the dialog
    expect(page.get_by_role("dialog")).to_have_count(0)
    press("Delete")
    expect(page.get_by_role("dialog", name="Remove")).to_be_visible()
    press("Tab")
    press("Enter")
    expect(page.get_by_role("heading", name="Nothing is being watched yet.")).to_be_visible()
    it.check(NO_PICTURE_YET)


def test_what_was_told_is_saved_as_subtitles_and_lines(eye, room):
    it = eye()
    page = it.open("/#/room")
    expect(page.locator(".events li:not(.tentative) .speech").first).to_be_visible(timeout=30_000)
    saved = {}
    for name in ("vtt", "srt", "jsonl"):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.locator(f'[data-format="{name}"]').click()
        assert download.value.suggested_filename == f"room.{name}"
        saved[name] = pathlib.Path(download.value.path()).read_text()
    assert saved["vtt"].startswith("WEBVTT\n\n00:00:0") and "attention" in saved["vtt"].lower()
    assert re.match(r"1\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\n", saved["srt"])
    events = [json.loads(line) for line in saved["jsonl"].splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    it.check(NO_PICTURE_YET)


# --- attacks and faults, told by a stand-in for the server's replies

BAD = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<svg/onload=alert(1)>",
       "javascript:alert(1)", "\u202egnp.exe\u2066 \u2067x\u2069", "&lt;b&gt;", "W" * 20_000, "\u0000\u0007\u001b[31m",
       "{{constructor.constructor('alert(1)')()}}", "{\u0301" * 400]


def event(seq, kind, **fields):
    return {"v": 1, "kind": kind, "stream": "bad", "seq": seq, "final": True, **fields}


def hostile_events():
    out = []
    for text in BAD:
        n = len(out)
        at = n * 0.5
        box = [[10, 10 * n], [300, 10 * n], [300, 10 * n + 8], [10, 10 * n + 8]]
        out += [event(n + 1, "caption", t0=at, t1=at, text=text, id=f"c{n}", prompt="caption", frame_age_ms=80,
                      stages={"see": 20, "decode": 40, text: 5}),
                event(n + 2, "text", t0=at, t1=at, text=text, id=text, box=box, final=False),
                event(n + 3, "speech", t0=at, t1=at + 0.4, text=text, id=f"s{n}"),
                event(n + 4, "alert", t0=at, t1=at, text=text, id=f"a{n}", prompt=text, yes=True, confidence=9e99),
                event(n + 5, "drop", t0=at, t1=at, reason=text, count=3),
                event(n + 6, "status", reason=text, text=text, numbers={text: 1}),
                event(n + 7, "knobs", numbers={text: 2}),
                event(n + 8, "answer", t0="1", t1=None, text=[text], id={"a": 1}, stages=[1], box="x", words=3)]
    out += [event(len(out) + 1, "unknown-kind", text=BAD[0]), {"kind": "caption"}, "text", None]
    return out


def stand_in(page, events, streams=None, end=True, seen=None):
    lines = [json.dumps(each) for each in events] + ["{not json"]
    if end:
        lines.append(json.dumps(event(9999, "status", reason="ended")))
    body = "".join(f"id: {n}\ndata: {line}\n\n" for n, line in enumerate(lines, 1))
    state = {"id": "bad", "object": "stream", "source": BAD[0], "state": "up", "reason": BAD[0],
             "prompts": [{"id": "caption", "text": BAD[0]}], "alerts": [{"id": BAD[1], "text": BAD[1]}],
             "senses": ["see"], "position_s": 1}

    def follow(route):
        if seen is not None:
            seen.append(route.request.headers.get("last-event-id"))
        route.fulfill(content_type="text/event-stream", body=body)
    page.route("**/v1/streams", lambda route: route.fulfill(json={"object": "list", "data": streams or [state]}))
    page.route("**/v1/streams/*/events", follow)
    page.route("**/v1/streams/*/picture", lambda route: route.fulfill(
        status=200, content_type="image/jpeg", path=SHOTS / "picture.jpg",
        headers={"ETag": '"p1"', "X-Media-Time": "1.000", "X-Source-Size": BAD[0]}))


@pytest.fixture
def jpeg(server, room):
    assert until(lambda: picture(server)[0] == 200)
    SHOTS.mkdir(parents=True, exist_ok=True)
    (SHOTS / "picture.jpg").write_bytes(picture(server)[2])


def test_t22_hostile_texts_stay_texts(eye, jpeg):
    it = eye()
    page = it.page
    stand_in(page, hostile_events())
    it.open()
    expect(page.locator(".link")).to_have_text("complete")
    for kind in ("scene",):
        page.locator(f".filters .{kind}").click()
    page.hover("canvas.timeline", position={"x": 300, "y": 60})
    expect(page.locator(".readout .say").first).to_be_visible()
    page.wait_for_timeout(500)
    assert page.evaluate("document.querySelectorAll('img').length") == 1  # the sign in the corner
    assert page.evaluate("document.querySelectorAll('script').length") == 1
    assert page.evaluate("document.querySelectorAll('svg, iframe, a[href^=javascript]').length") == 0
    shown = page.evaluate("document.body.innerText")
    assert "<img src=x onerror=alert(1)>" in shown and "</script><script>" in shown
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u0000\u001b]", shown)
    assert "W" * 5000 not in shown and no_sideways(page)
    it.shot("hostile")
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_timeout(300)
    assert no_sideways(page)
    page.keyboard.press("e")
    assert page.locator(".row input").first.input_value() == BAD[0]
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    with page.expect_download() as download:
        page.locator('[data-format="vtt"]').click()
    vtt = pathlib.Path(download.value.path()).read_text()
    assert "<img" not in vtt and "&lt;img" in vtt
    it.check()


def test_t22_a_wall_with_markup_on_it(eye, tmp_path):
    page_of_text = Image.new("RGB", (1280, 240), "white")
    font = ImageFont.truetype(next((ROOT / "models/mini/fonts").glob("*.ttf")), 44)
    ImageDraw.Draw(page_of_text).text((40, 80), "<img src=x onerror=alert(1)>", "black", font)
    page_of_text.save(tmp_path / "wall.png")
    running = Server("--media-path", tmp_path)
    try:
        body = {"source": "file:///wall.png", "id": "wall", "senses": ["see", "read"], "prompts": ["What is it?"]}
        assert running.request("POST", "/v1/streams", body)[0] == 201
        it = eye(running)
        page = it.open()
        expect(page.locator(".events .what").filter(has_text="onerror").first).to_be_visible(timeout=20_000)
        expect(page.locator(".link")).to_have_text("complete")
        expect(page.locator(".chip.ended")).to_be_visible()
        assert page.evaluate("document.querySelectorAll('img').length") == 1
        it.check(NO_PICTURE_YET)
    finally:
        assert running.stop() == 0, running.log


def test_a_broken_line_is_taken_up_where_it_broke(eye, jpeg):
    it = eye()
    page = it.page
    seen = []
    stand_in(page, [event(n, "caption", t0=n, t1=n, text=f"say {n}", id=f"c{n}", prompt="caption") for n in (1, 2, 3)],
             end=False, seen=seen)
    it.open()
    expect(page.locator(".link")).to_contain_text("reconnecting in")
    it.shot("reconnecting")
    page.locator(".link").click()  # now
    assert until(lambda: len(seen) >= 2 or page.wait_for_timeout(100))
    assert seen[0] is None and seen[1] == "4", seen  # the last line had no event in it, but a number
    it.check()


def test_a_server_that_is_gone_is_told_and_found_again(eye, server, room):
    it = eye()
    page = it.open("/#/room")
    expect(page.locator(".link")).to_have_text("connected")
    it.context.set_offline(True)
    expect(page.locator(".bar")).to_contain_text("The server does not answer", timeout=15_000)
    expect(page.locator(".bar")).to_contain_text("saccade serve")
    expect(page.locator(".link")).to_have_text("no answer")
    it.shot("offline")
    it.context.set_offline(False)
    expect(page.locator(".bar")).to_be_hidden(timeout=15_000)
    expect(page.locator(".link")).to_have_text("connected", timeout=20_000)
    it.check(allowed=["ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED"])


def test_another_stream_of_the_same_name_has_its_own_story(eye, server, room):
    it = eye()
    page = it.open("/#/room")
    expect(page.locator(".events .text").first).to_be_visible(timeout=20_000)
    server.request("DELETE", "/v1/streams/room")
    time.sleep(1.1)  # streams are told apart by the second they were made in
    assert server.request("POST", "/v1/streams", {**ROOM, "senses": ["see"]})[0] == 201
    expect(page.locator(".link")).to_have_text("connected", timeout=10_000)
    expect(page.locator(".card.caption .said")).not_to_contain_text("not answered", timeout=20_000)
    expect(page.locator(".events .text")).to_have_count(0)
    it.check(NO_PICTURE_YET)


def test_a_key_is_asked_for_and_stays_in_the_tab(eye, tmp_path):
    (tmp_path / "keys").write_text("alice key-of-alice\n")
    running = Server("--media-path", SAMPLE.parent, "--api-key-file", tmp_path / "keys")
    try:
        it = eye(running)
        page = it.open()
        dialog = page.get_by_role("dialog", name="API key")
        expect(dialog).to_be_visible()
        it.shot("key")
        page.keyboard.type("no key at all")
        page.keyboard.press("Enter")
        expect(page.locator("dialog .wrong")).to_contain_text("without spaces")
        page.locator("dialog input").fill("wrong-key-of-nobody")
        page.keyboard.press("Enter")
        expect(dialog).to_be_visible(timeout=8000)  # asked again
        page.get_by_label("Key", exact=True).fill("key-of-alice")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Nothing is being watched yet.")).to_be_visible()
        expect(page.locator('[data-name="figures"] dd')).to_have_text("need an admin key")
        assert page.evaluate("JSON.stringify(localStorage) + document.cookie + location.href").count("alice") == 0
        assert page.evaluate("JSON.stringify(sessionStorage)").count("key-of-alice") == 1
        assert not any("alice" in line for line in running.log)
        it.check(allowed=["401 (Unauthorized)", "403 (Forbidden)"])
    finally:
        assert running.stop() == 0, running.log
