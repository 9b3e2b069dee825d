"""Live sources: a real RTSP server that comes, goes, refuses and falls silent."""
import json
import os
import queue
import signal
import subprocess
import threading
import time

import pytest
from conftest import ROOT, SACCADE, ffmpeg

SERVER = ROOT / "tests/e2e/rtsp_server.py"


class Camera:
    """The RTSP server as a process; `url` once it listens."""

    def __init__(self, *args, scheme="rtsp"):
        self.process = subprocess.Popen(["/usr/bin/python3", SERVER, *map(str, args)],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith(f"{scheme}://"), self.url
        self.port = int(self.url.split(":")[2].split("/")[0])

    def kill(self):
        self.process.kill()
        self.process.wait()


class Watch:
    """A running `saccade watch --json`; events arrive in a queue with their time."""

    def __init__(self, url, *args):
        own = {k: v for k, v in os.environ.items() if not k.startswith("SACCADE_")}
        self.process = subprocess.Popen(
            [SACCADE, "watch", url, "--json", *map(str, args)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=own | {"OMP_WAIT_POLICY": "passive"})
        self.events = queue.Queue()
        self.seen = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.events.put((time.monotonic(), json.loads(line)))

    def wait_for(self, wanted, seconds):
        """The first event from now on for which wanted(event); its arrival time too."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                at, event = self.events.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                break
            self.seen.append(event)
            if wanted(event):
                return at, event
        pytest.fail(f"no such event in {seconds} s; saw {[e['kind'] + ':' + e.get('reason', '') for e in self.seen]}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)
        return self.process.returncode


def is_state(state):
    return lambda e: e["kind"] == "status" and e.get("reason") == state


def is_caption(event):
    return event["kind"] == "caption"


@pytest.fixture
def camera():
    camera = Camera("--live", "--fps", 10)
    yield camera
    camera.kill()


def test_first_answer_soon_after_the_camera_is_up(camera):
    watch = Watch(camera.url, "--senses", "see")
    up, _ = watch.wait_for(is_state("up"), 15)
    at, event = watch.wait_for(is_caption, 5)
    assert at - up <= 3
    assert event["t0"] >= 0
    assert watch.end() == 130


def test_frames_come_back_after_a_drop_and_time_never_steps_back(camera):
    watch = Watch(camera.url, "--senses", "see", "--refresh-s", "1")
    watch.wait_for(is_caption, 20)
    camera.kill()
    watch.wait_for(lambda e: is_state("connecting")(e) or is_state("stale")(e), 10)
    time.sleep(2)
    again = Camera("--live", "--fps", 10, "--port", camera.port)
    returned = time.monotonic()
    try:
        up, _ = watch.wait_for(is_state("up"), 15)
        assert up - returned <= 4  # the server itself needs about a second for its first frame
        watch.wait_for(is_caption, 10)
        times = [e["t0"] for e in watch.seen if e["kind"] == "caption"]
        assert times == sorted(times)
        watch.end()
    finally:
        again.kill()


def test_a_silent_camera_is_stale_within_three_seconds_and_recovers(camera):
    watch = Watch(camera.url, "--senses", "see")
    watch.wait_for(is_caption, 20)
    camera.process.send_signal(signal.SIGUSR1)
    silent = time.monotonic()
    at, _ = watch.wait_for(is_state("stale"), 8)
    assert at - silent <= 4
    camera.process.send_signal(signal.SIGUSR2)
    watch.wait_for(is_state("up"), 30)
    watch.end()


def test_a_wrong_password_fails_at_once_and_is_not_told(camera):
    locked = Camera("--live", "--user", "guard", "--password", "secret")
    try:
        watch = Watch(locked.url.replace("rtsp://", "rtsp://guard:wrong-canary@"), "--senses", "see")
        assert watch.process.wait(20) == 5
        err = watch.process.stderr.read()
        assert "canary" not in err and "refuse" in err.lower() or "password" in err.lower(), err
    finally:
        locked.kill()


def test_a_dead_host_keeps_trying_without_a_hot_loop():
    watch = Watch("rtsp://127.0.0.1:9/live", "--senses", "see")
    watch.wait_for(is_state("connecting"), 10)
    time.sleep(6)
    told = [watch.events.get()[1] for _ in range(watch.events.qsize())]
    assert len(told) <= 2, told
    fields = open(f"/proc/{watch.process.pid}/stat").read().rsplit(")", 1)[1].split()
    busy = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    assert busy < 6, busy  # model loading included
    assert watch.end() == 130


def test_the_worker_may_die_and_the_stream_goes_on(camera):
    watch = Watch(camera.url, "--senses", "see", "--refresh-s", "1")
    watch.wait_for(is_caption, 20)
    children = open(f"/proc/{watch.process.pid}/task/{watch.process.pid}/children").read().split()
    workers = children or subprocess.run(["pgrep", "-P", str(watch.process.pid)], capture_output=True,
                                         text=True).stdout.split()
    assert workers
    os.kill(int(workers[0]), signal.SIGSEGV)
    watch.wait_for(is_state("connecting"), 10)
    watch.wait_for(is_state("up"), 15)
    watch.wait_for(is_caption, 10)
    watch.end()


def test_pictures_that_cannot_be_served_are_told(tmp_path):
    """A live run slower than its source drops the oldest picture and says so."""
    noisy = tmp_path / "noise.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=8", "-vf", "noise=alls=60:allf=t", "-pix_fmt",
           "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", noisy)
    camera = Camera("--file", noisy)
    try:
        watch = Watch(camera.url, "--senses", "see,read", "--fps", 25)
        watch.wait_for(lambda e: e["kind"] == "drop" and e["reason"] in ("busy", "rate"), 30)
        watch.end()
    finally:
        camera.kill()
