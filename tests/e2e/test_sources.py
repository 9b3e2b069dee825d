"""Every way into saccade, through the decode worker, against a real counterpart."""
import contextlib
import os
import signal
import stat
import subprocess
import sys
import time

import pytest
from conftest import ROOT, SACCADE, SAMPLE, ffmpeg, saccade
from peers import Endless, Motion, certificate, free_port, sender, silent_host, tls_front, web
from test_live import Camera, Watch, is_caption, is_state

FAST = ["--senses", "see", "--refresh-s", "1"]


def refused(run, code, *mentions):
    """One clear line and the right exit code."""
    lines = [line for line in run.err.splitlines() if line.startswith("saccade: ")]
    assert run.code == code, (run.code, run.err)
    assert len(lines) == 1, run.err
    for word in mentions:
        assert word in run.err, (word, run.err)


def comes_up(url, *args, seconds=30):
    """Watches until two captions came."""
    watch = Watch(url, *FAST, *args)
    try:
        watch.wait_for(is_state("up"), seconds)
        watch.wait_for(is_caption, 10)
        watch.wait_for(is_caption, 10)
    finally:
        code = watch.end()
    assert code == 130
    return watch


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the web servers serve: a short HLS recording and stills with text."""
    path = tmp_path_factory.mktemp("served")
    ffmpeg("-ss", 2, "-t", 4, "-i", SAMPLE, "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-c:a", "aac",
           "-f", "hls", "-hls_time", "1", "-hls_list_size", "0", "-hls_playlist_type", "vod", path / "film.m3u8")
    for name in ("still.jpg", "still.png"):
        ffmpeg("-ss", 3, "-i", SAMPLE, "-frames:v", 1, path / name)
    (path / "snapshot.cgi").write_bytes((path / "still.jpg").read_bytes())
    (path / "cut.jpg").write_bytes((path / "still.jpg").read_bytes()[:-500])
    (path / "page.jpg").write_text("<html>camera offline</html>")
    return path


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


# --- over the web


def test_hls_recording_over_http_plays_to_its_end(folder):
    with web(folder) as at:
        run = saccade("watch", f"{at}/film.m3u8", "--json", *FAST)
    assert run.code == 0, run.err
    assert run.kinds("caption")
    assert run.kinds("caption")[-1]["t1"] > 2


def test_hls_that_is_being_written(tmp_path):
    with sender("-f", "hls", "-hls_time", 1, "-hls_list_size", 4, "-hls_flags", "delete_segments",
                tmp_path / "live.m3u8"), web(tmp_path) as at:
        comes_up(f"{at}/live.m3u8")


@pytest.mark.parametrize("name", ["still.jpg", "still.png", "snapshot.cgi?user=x"])
def test_a_snapshot_over_http_reads_like_the_file(folder, name):
    with web(folder) as at:
        over_http = saccade("read", f"{at}/{name}")
    file = saccade("read", folder / name.split("?")[0])
    assert over_http.code == 0, over_http.err
    assert over_http.out == file.out and file.out.strip()


def test_a_question_about_a_snapshot_is_answered(folder):
    with web(folder) as at:
        run = saccade("ask", f"{at}/still.jpg", "What do you see?")
    assert run.code == 0 and run.out.strip(), run.err


def test_a_snapshot_that_is_cut_or_none_is_refused(folder):
    with web(folder) as at:
        refused(saccade("watch", f"{at}/cut.jpg", "--json"), 3, "cut.jpg")
        refused(saccade("watch", f"{at}/page.jpg", "--json"), 3, "page.jpg")


def test_an_endless_snapshot_is_bounded(folder):
    class Server(Endless):
        head = (folder / "still.jpg").read_bytes()[:-2]

    with web(handler=Server) as at:
        refused(saccade("watch", f"{at}/still.jpg", "--json"), 3, "larger than")


def test_pictures_pushed_one_by_one_keep_the_time_of_their_arrival(tmp_path):
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x240:r=10:d=2", tmp_path / "%02d.jpg")

    class Server(Motion):
        pictures = [path.read_bytes() for path in sorted(tmp_path.glob("*.jpg"))]

    with web(handler=Server) as at:
        watch = Watch(f"{at}/motion", *FAST)
        first_at, first = watch.wait_for(is_caption, 20)
        time.sleep(5)
        last_at, last = watch.wait_for(lambda e: is_caption(e) and e["t0"] > first["t0"] + 4, 10)
        assert watch.end() == 130
    assert abs((last["t0"] - first["t0"]) - (last_at - first_at)) < 2, (first, last)


# --- senders


def test_srt_sender_is_called():
    port = free_port()
    with sender("-f", "mpegts", f"srt://127.0.0.1:{port}?mode=listener"):
        comes_up(f"srt://127.0.0.1:{port}")


def test_srt_sender_with_a_passphrase_is_heard_and_the_phrase_is_not_told():
    port = free_port()
    with sender("-f", "mpegts", f"srt://127.0.0.1:{port}?mode=listener&passphrase=canary-canary"):
        watch = comes_up(f"srt://127.0.0.1:{port}?passphrase=canary-canary")
    assert "canary" not in str(watch.seen) + watch.process.stderr.read()


def test_srt_sender_calls_us():
    port = free_port()
    watch = Watch(f"srt://127.0.0.1:{port}?mode=listener", *FAST)
    watch.wait_for(is_state("connecting"), 10)
    with sender("-f", "mpegts", f"srt://127.0.0.1:{port}"):
        watch.wait_for(is_caption, 20)
        assert watch.end() == 130


def test_rtmp_sender():
    port = free_port()
    with sender("-f", "flv", "-listen", 1, f"rtmp://127.0.0.1:{port}/live/cam"):
        comes_up(f"rtmp://127.0.0.1:{port}/live/cam")


# --- whose certificate is trusted


def test_https_needs_a_certificate_that_is_trusted(folder, tls, tmp_path):
    with web(folder, tls=tls) as at:
        refused(saccade("read", f"{at}/still.png"), 5, "certificate is not trusted", "--tls-ca")
        trusted = saccade("read", f"{at}/still.png", "--tls-ca", tls[0])
        assert trusted.code == 0 and trusted.out.strip(), trusted.err
        assert saccade("read", f"{at}/still.png", "--tls-insecure").out == trusted.out
    other = certificate(tmp_path, "elsewhere.example")
    with web(folder, tls=other) as at:
        refused(saccade("read", f"{at}/still.png", "--tls-ca", other[0]), 5, "certificate is not trusted")


def test_certificates_count_inside_a_playlist_too(folder, tls):
    with web(folder, tls=tls) as at:
        run = saccade("watch", f"{at}/film.m3u8", "--json", *FAST, "--tls-ca", tls[0])
        assert run.code == 0 and run.kinds("caption"), run.err
        (folder / "lead.m3u8").write_text(
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" +
            "".join(f"#EXTINF:1,\n{at}/film{i}.ts\n" for i in range(4)) + "#EXT-X-ENDLIST\n")
        with web(folder) as plain:
            refused(saccade("watch", f"{plain}/lead.m3u8", "--json", *FAST), 5, "certificate is not trusted")


def test_rtmps_needs_a_certificate_that_is_trusted(tls):
    port = free_port()
    with sender("-f", "flv", "-listen", 1, f"rtmp://127.0.0.1:{port}/live/cam"), tls_front(port, tls) as front:
        refused(saccade("watch", f"rtmps://localhost:{front}/live/cam", "--json", *FAST), 5,
                "certificate is not trusted")
    port = free_port()
    with sender("-f", "flv", "-listen", 1, f"rtmp://127.0.0.1:{port}/live/cam"), tls_front(port, tls) as front:
        comes_up(f"rtmps://localhost:{front}/live/cam", "--tls-ca", tls[0])


def test_rtsps_is_for_who_takes_any_certificate(tls):
    camera = Camera("--live", "--tls", *tls, scheme="rtsps")
    try:
        refused(saccade("watch", camera.url, "--json", *FAST), 2, "cannot be checked", "--tls-insecure")
        comes_up(camera.url, "--tls-insecure")
    finally:
        camera.kill()


def test_a_file_that_holds_no_certificate_is_refused(tmp_path):
    (tmp_path / "ca.pem").write_text("nothing\n")
    for path in (tmp_path / "ca.pem", tmp_path / "absent.pem"):
        refused(saccade("watch", "https://localhost:9/x", "--json", "--tls-ca", path), 2, path.name)


# --- RTSP in its shapes


@contextlib.contextmanager
def camera(*args):
    one = Camera(*args)
    try:
        yield one
    finally:
        one.kill()


def test_rtsp_with_pictures_only():
    with camera("--live") as one:
        watch = Watch(one.url, "--refresh-s", "1")  # sound is wanted and not there
        watch.wait_for(is_caption, 30)
        assert watch.end() == 130


def test_rtsp_with_sound_only():
    with camera("--live", "--no-video") as one:
        watch = Watch(one.url, "--duration-s", "4")
        _, source = watch.wait_for(is_state("source"), 30)
        assert "pcm_alaw" in source["text"] and "numbers" not in source, source
        watch.wait_for(is_state("up"), 10)
        assert watch.process.wait(20) == 0  # four seconds of sound came


@pytest.mark.parametrize("codec", ["h264", "vp8"])  # the second says its size in key pictures only
def test_rtsp_that_is_joined_in_the_middle_of_a_group_of_pictures(codec):
    with camera("--live", "--gop", "40", "--codec", codec) as one:  # a key picture every four seconds
        first = Watch(one.url, *FAST)
        first.wait_for(is_caption, 30)
        time.sleep(1.5)
        comes_up(one.url)
        assert first.end() == 130


def test_rtsp_whose_picture_changes_its_size():
    with camera("--live", "--sound") as one:
        watch = Watch(one.url, *FAST)
        watch.wait_for(is_caption, 30)
        one.process.send_signal(signal.SIGHUP)
        changed = time.monotonic()
        while time.monotonic() < changed + 6:
            watch.wait_for(is_caption, 10)
        assert not [e for e in watch.seen if is_state("connecting")(e)][1:], watch.seen
        assert watch.end() == 130


# --- when nobody answers


def test_a_host_that_refuses_ends_after_the_named_limit():
    began = time.monotonic()
    run = saccade("watch", f"rtsp://127.0.0.1:{free_port()}/live", "--json", *FAST, "--connect-timeout-s", 3)
    refused(run, 5, "connection refused", "attempts in 3 s")
    assert time.monotonic() - began > 3
    states = [e["reason"] for e in run.kinds("status")]
    assert states[0] == "connecting" and states[-1] == "failed", states


@pytest.mark.parametrize("scheme, path", [("rtsp", "/live"), ("rtmp", "/live/cam"), ("http", "/x.m3u8")])
def test_a_host_that_says_nothing_ends_like_one_that_refuses(scheme, path):
    with silent_host() as port:
        run = saccade("watch", f"{scheme}://127.0.0.1:{port}{path}", "--json", *FAST, "--connect-timeout-s", 11)
    refused(run, 5, "no answer in time", "2 attempts")
    states = [e["reason"] for e in run.kinds("status")]
    assert states[0] == "connecting" and states[-1] == "failed", states


def test_a_camera_that_is_switched_on_later_is_found():
    port = free_port()
    watch = Watch(f"rtsp://127.0.0.1:{port}/live", *FAST)
    watch.wait_for(lambda e: is_state("connecting")(e) and "refused" in e.get("text", ""), 10)
    with camera("--live", "--port", port):
        watch.wait_for(is_caption, 20)
        assert watch.end() == 130


def test_no_such_host():
    run = saccade("watch", "rtsp://no-such-host.invalid/live", "--json", *FAST, "--connect-timeout-s", 1)
    refused(run, 5, "no-such-host.invalid")


# --- large pictures


def test_a_picture_above_four_megapixels_whose_codec_holds_sixteen_back(tmp_path):
    """More pictures come at once, at the end, than there are places for pictures of this size."""
    plain, deep = tmp_path / "plain.h264", tmp_path / "deep.h264"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=4096x2304:r=25", "-frames:v", 20, "-pix_fmt", "yuv420p", "-c:v", "libx264",
           "-preset", "ultrafast", "-bf", 3, "-b_strategy", 0, plain)
    subprocess.run([sys.executable, ROOT / "tests/e2e/deepen.py", plain, deep], check=True)
    run = saccade("watch", deep, "--json", "--senses", "see", "--fps", "0")
    assert run.code == 0, run.err
    assert run.kinds("stats")[-1]["numbers"]["frames_seen"] == 20


def test_hevc_above_four_megapixels(tmp_path):
    path = tmp_path / "large.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=2560x1600:r=10", "-frames:v", 12, "-pix_fmt", "yuv420p", "-c:v", "libx265",
           "-preset", "ultrafast", "-x265-params", "log-level=none:bframes=8:b-adapt=0:rc-lookahead=10", path)
    run = saccade("watch", path, "--json", "--senses", "see", "--fps", "0")
    assert run.code == 0, run.err
    assert run.kinds("stats")[-1]["numbers"]["frames_seen"] == 12


# --- devices


def test_a_device_that_is_not_there():
    refused(saccade("watch", "/dev/video97", "--json"), 5, "/dev/video97", "no such device")


@contextlib.contextmanager
def device(path, make):
    """A node under /dev for one test: only root may make one."""
    if os.geteuid() != 0 or os.path.lexists(path):
        pytest.skip("needs root to make a device node")
    try:
        try:
            make(path)
        except OSError as error:
            pytest.skip(f"no device node can be made here: {error}")
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def null_device(path):
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))


def test_a_file_that_is_called_like_a_device():
    with device("/dev/video97", lambda path: open(path, "w").close()) as path:
        refused(saccade("watch", path, "--json"), 3, path, "no video device")


def test_a_device_that_is_no_camera():
    with device("/dev/video97", null_device) as path:
        refused(saccade("watch", path, "--json"), 3, path, "no video device")


def test_a_device_that_may_not_be_used():
    with device("/dev/video97", null_device) as path:
        as_nobody = subprocess.run([SACCADE, "watch", path, "--json"], capture_output=True, user=65534, group=65534,
                                   extra_groups=[], cwd="/", env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]})
        if as_nobody.returncode == 126 or b"cannot open" in as_nobody.stderr:
            pytest.skip("nobody may not run the program here")
        assert as_nobody.returncode == 5, as_nobody.stderr
        assert b"no permission" in as_nobody.stderr
