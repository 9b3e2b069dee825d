"""End-to-end tests drive the release binary as a user would: files, pipes, servers, real weights."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SACCADE = pathlib.Path(os.environ.get("SACCADE_BINARY", ROOT / "build/release/saccade"))
SAMPLE = ROOT / "build/sample/control-room.mp4"
TRUTH = ROOT / "build/sample/control-room.truth.json"


class Run:
    """A finished run: exit code, events (JSON lines of stdout) and stderr."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode(errors="replace")
        self.err = process.stderr.decode(errors="replace")

    @property
    def events(self):
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]

    def kinds(self, kind):
        return [e for e in self.events if e["kind"] == kind]


def saccade(*args, stdin=None, timeout=300, env=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SACCADE_")}
    environment |= {"OMP_WAIT_POLICY": "passive", "HOME": "/nonexistent"} | (env or {})
    return Run(subprocess.run([str(SACCADE), *map(str, args)], input=stdin, capture_output=True,
                              timeout=timeout, env=environment))


def ffmpeg(*args):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, args)], check=True)


@pytest.fixture(scope="session")
def truth():
    return json.loads(TRUTH.read_text())


@pytest.fixture(scope="session")
def sample_run():
    """One full run over the sample, shared by the tests that only look at it."""
    return saccade("watch", SAMPLE, "--json", "--fps", "10", timeout=900)


@pytest.fixture(scope="session")
def clip(tmp_path_factory):
    """Six seconds of the sample: small enough for tests of formats and transports."""
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    ffmpeg("-ss", "2", "-t", "6", "-i", SAMPLE, "-c:v", "libx264", "-preset", "ultrafast",
           "-pix_fmt", "yuv420p", "-g", "10", "-c:a", "aac", path)
    return path
