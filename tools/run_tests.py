"""Runs every test of the project and ends with one line `N passed, N failed`.

Stages, in order; a stage that cannot be built counts as one failure and the rest still run:
  style    tools/tidy.py: borders, budgets, banned calls, formatting
  headers  every header compiles alone
  dev      unit, parity and simulation tests under ASan and UBSan
  tsan     the tests of code that shares state between threads, under TSan
  fuzz     every fuzzer for 30 seconds
  e2e      pytest on the release binary (real files, servers, weights) and on the scene generator
And, when named, since it takes half an hour:
  tidy     clang-tidy over the release compile commands
Usage: python tools/run_tests.py [STAGE ...]
"""
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
# Test cases (ctest names) of code that shares state between threads.
TSAN_CASES = ("Mailbox|BoundedQueue|FramePool|Source|Session|Emitter|RequestQueue|EventRing|"
              "HttpServer|MemoryFile|Device|PictureWindow")
TSAN_TARGETS = ["saccade_core_test", "saccade_emit_test", "saccade_session_test",
                "saccade_serve_test"]


def say(text):
    print(f"tests: {text}", flush=True)


def run(name, command, timeout=3600, env=None):
    """Runs a command with its output in a log file; gives (exit code, output)."""
    log = LOGS / f"{name}.log"
    started = time.monotonic()
    with open(log, "w") as sink:
        try:
            code = subprocess.run(command, cwd=ROOT, stdout=sink, stderr=subprocess.STDOUT,
                                  timeout=timeout, env={**os.environ, **(env or {})}).returncode
        except subprocess.TimeoutExpired:
            code = 124
    text = log.read_text(errors="replace")
    if code:
        print("\n".join(text.splitlines()[-40:]), flush=True)
    seconds = time.monotonic() - started
    say(f"{name}: exit {code} after {seconds:.0f} s (log: {log.relative_to(ROOT)})")
    return code, text


def build(preset, targets=()):
    if not (BUILD / preset / "build.ninja").exists():
        code, _ = run(f"configure-{preset}", ["cmake", "--preset", preset])
        if code:
            return False
    command = ["cmake", "--build", "--preset", preset]
    if targets:
        command += ["--target", *targets]
    return run(f"build-{preset}", command)[0] == 0


def ctest(preset, select=()):
    report = LOGS / f"ctest-{preset}.xml"
    report.unlink(missing_ok=True)
    run(f"ctest-{preset}", ["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "-j2",
                            "--output-junit", str(report), *select])
    if not report.exists():
        return 0, 1
    suite = xml.parse(report).getroot()
    failed = int(suite.get("failures", 0))
    passed = int(suite.get("tests", 0)) - failed - int(suite.get("skipped", 0)) \
        - int(suite.get("disabled", 0))
    for case in suite.iter("testcase"):
        if case.get("status") == "fail":
            say(f"FAILED {preset}: {case.get('name')}")
    return passed, failed if passed + failed else 1


def stage_style():
    code, _ = run("style", [sys.executable, "tools/tidy.py"])
    return (1, 0) if code == 0 else (0, 1)


def stage_tidy():
    if not build("release", ["saccade"]):
        return 0, 1
    code, _ = run("clang-tidy", [sys.executable, "tools/clang_tidy.py", "build/release"])
    return (1, 0) if code == 0 else (0, 1)


def stage_headers():
    return (1, 0) if build("release", ["saccade_headers"]) else (0, 1)


def stage_dev():
    return ctest("dev") if build("dev") else (0, 1)


def stage_tsan():
    return ctest("tsan", ["-R", TSAN_CASES]) if build("tsan", TSAN_TARGETS) else (0, 1)


def stage_fuzz():
    if not build("fuzz", ["saccade_fuzzers"]):
        return 0, 1
    return ctest("fuzz", ["-L", "fuzz"])


def stage_e2e():
    if not build("release", ["saccade", "saccade_write_family"]):
        return 0, 1
    code, _ = run("sample", ["make", "sample"])
    if code:
        return 0, 1
    report = LOGS / "pytest.xml"
    report.unlink(missing_ok=True)
    run("pytest", [sys.executable, "-m", "pytest", "-q", "tests/e2e", "tests/mini",
                    f"--junitxml={report}"])
    if not report.exists():
        return 0, 1
    suite = xml.parse(report).getroot().find("testsuite")
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    return int(suite.get("tests")) - failed - int(suite.get("skipped")), failed


STAGES = ["style", "headers", "dev", "tsan", "fuzz", "e2e"]


def main():
    chosen = sys.argv[1:] or STAGES
    unknown = [s for s in chosen if s not in [*STAGES, "tidy"]]
    if unknown:
        sys.exit(f"unknown stage {unknown[0]!r}; stages: {', '.join(STAGES)}")
    LOGS.mkdir(parents=True, exist_ok=True)
    total = [0, 0]
    for name in chosen:
        passed, failed = globals()[f"stage_{name}"]()
        say(f"{name}: {passed} passed, {failed} failed")
        total[0] += passed
        total[1] += failed
    print(f"{total[0]} passed, {total[1]} failed", flush=True)
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()
