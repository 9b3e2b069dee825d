"""Measures the main job and appends one JSON line per run to bench/results/watch.jsonl.

  python bench/watch.py quality              reading, hearing and event times against the truth file
  python bench/watch.py soak --minutes 30    live RTSP 720p: frame age, memory, descriptors over time
  python bench/watch.py idle                 CPU share with an unchanged 720p picture at 10 fps
Each line: scenario, commit, machine, numbers with sample counts. Nothing is asserted here.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
import score  # noqa: E402

SACCADE = ROOT / "build/release/saccade"
SAMPLE = ROOT / "build/sample/control-room.mp4"
TRUTH = ROOT / "build/sample/control-room.truth.json"
RESULTS = ROOT / "bench/results/watch.jsonl"


def record_to(results, scenario, numbers):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True,
                            text=True).stdout.strip()
    line = {"scenario": scenario, "commit": commit, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "machine": f"{platform.machine()} {os.cpu_count()} cores", **numbers}
    results.parent.mkdir(parents=True, exist_ok=True)
    with open(results, "a") as f:
        f.write(json.dumps(line) + "\n")
    print(json.dumps(line, indent=1))


def record(scenario, numbers):
    record_to(RESULTS, scenario, numbers)


def percentile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else None


def quality(_):
    truth = json.loads(TRUTH.read_text())
    started = time.monotonic()
    out = subprocess.run([SACCADE, "watch", SAMPLE, "--json", "--fps", "10"], capture_output=True,
                         check=True).stdout
    wall = time.monotonic() - started
    events = [json.loads(line) for line in out.splitlines()]
    asked, right, rows = 0, 0, []
    for question in truth["questions"]:
        picture = ROOT / "build/question.png"
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-ss", str(question["t"]), "-i", SAMPLE,
                        "-frames:v", "1", picture], check=True)
        answer = subprocess.run([SACCADE, "ask", picture, question["question"], "--json"],
                                capture_output=True, check=True).stdout
        text = [json.loads(x) for x in answer.splitlines()]
        text = next(e["text"] for e in text if e["kind"] == "answer")
        rows.append({"question": question["question"], "expected": question["answer"], "answer": text})
        asked += 1
        right += question["answer"].lower() in text.lower()
    ages = [e["frame_age_ms"] for e in events if e["kind"] == "caption" and "frame_age_ms" in e]
    record("quality", {
        "text": score.text_scores(events, truth), "speech": score.speech_scores(events, truth),
        "questions": {"asked": asked, "right": right, "rows": rows},
        "frame_age_ms": {"samples": len(ages), "p50": percentile(ages, .5), "p99": percentile(ages, .99)},
        "realtime_factor": truth["duration"] / wall, "wall_s": wall,
        "stats": [e for e in events if e["kind"] == "stats"][-1]["numbers"]})


def proc(pid, name):
    return pathlib.Path(f"/proc/{pid}/{name}").read_text()


def family(pid):
    """The process and its children (the decode worker)."""
    children = proc(pid, f"task/{pid}/children").split()
    return [pid, *map(int, children)]


def rss_mb(pids):
    pages = 0
    for pid in pids:
        pages += int(proc(pid, "statm").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_s(pids):
    ticks = 0
    for pid in pids:
        fields = proc(pid, "stat").rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def slope_mb_per_10_min(samples):
    """Least-squares slope of (seconds, MB) samples."""
    n = len(samples)
    mean_t = sum(t for t, _ in samples) / n
    mean_v = sum(v for _, v in samples) / n
    over = sum((t - mean_t) * (v - mean_v) for t, v in samples)
    under = sum((t - mean_t) ** 2 for t, _ in samples)
    return 600 * over / under if under else 0.0


def soak(options):
    recording = ROOT / "build/soak.mp4"  # the sample over and over: one camera that never pauses
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-stream_loop", str(int(options.minutes * 60 / 42) + 2), "-i",
                    SAMPLE, "-c", "copy", recording], check=True)
    server = subprocess.Popen(["/usr/bin/python3", ROOT / "tests/e2e/rtsp_server.py", "--file", recording, "--sound"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    url = server.stdout.readline().strip()
    watch = subprocess.Popen([SACCADE, "watch", url, "--json", "--fps", str(options.fps)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    events = []
    reader = threading.Thread(target=lambda: events.extend((time.monotonic(), json.loads(x)) for x in watch.stdout))
    reader.start()
    started, memory, descriptors = time.monotonic(), [], []
    while time.monotonic() - started < options.minutes * 60 and watch.poll() is None:
        time.sleep(5)
        try:
            pids = family(watch.pid)
            memory.append((time.monotonic() - started, rss_mb(pids)))
            descriptors.append(sum(len(os.listdir(f"/proc/{p}/fd")) for p in pids))
        except FileNotFoundError:
            continue  # the worker was being replaced
    watch.send_signal(2)
    watch.wait(30)
    reader.join()
    server.kill()
    warm = [s for s in memory if s[0] > min(120, options.minutes * 20)]
    captions = [(t, e) for t, e in events if e["kind"] == "caption" and "frame_age_ms" in e]
    ages = [e["frame_age_ms"] for _, e in captions]
    half = len(ages) // 2
    decode = [e["stages"].get("see", 0) + e["stages"].get("read", 0) + e["stages"].get("decode", 0)
              for _, e in captions]
    record("soak", {
        "minutes": options.minutes, "fps": options.fps, "exit": watch.returncode,
        "frame_age_ms": {"samples": len(ages), "p50": percentile(ages, .5), "p95": percentile(ages, .95),
                         "p99": percentile(ages, .99), "p99_first_half": percentile(ages[:half], .99),
                         "p99_second_half": percentile(ages[half:], .99)},
        "bound_ms": 2 * 1000 / options.fps + (percentile(decode, .99) or 0),
        "rss_mb": {"samples": len(warm), "first": warm[0][1], "last": warm[-1][1], "max": max(v for _, v in memory),
                   "slope_per_10_min": slope_mb_per_10_min(warm)},
        "descriptors": {"first": descriptors[0], "last": descriptors[-1], "max": max(descriptors)},
        "states": [e["reason"] for _, e in events if e["kind"] == "status"][:20],
        "stats": [e for _, e in events if e["kind"] == "stats"][-1]["numbers"]})


def idle(options):
    still = ROOT / "build/still.mp4"
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-ss", "32", "-t", "1", "-i", SAMPLE, "-an", "-vf",
                    "select=eq(n\\,0),loop=600:1,fps=10", "-t", "60", "-pix_fmt", "yuv420p", "-g", "50", still],
                   check=True)
    watch = subprocess.Popen([SACCADE, "watch", still, "--json", "--realtime", "--fps", "10"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(15)
    pids = family(watch.pid)
    before, started = cpu_s(pids), time.monotonic()
    time.sleep(options.seconds)
    share = (cpu_s(pids) - before) / (time.monotonic() - started)
    watch.send_signal(2)
    watch.wait(30)
    record("idle", {"fps": 10, "seconds": options.seconds, "cpu_share_of_one_core": share})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=["quality", "soak", "idle"])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--fps", type=float, default=5)
    options = parser.parse_args()
    {"quality": quality, "soak": soak, "idle": idle}[options.scenario](options)


if __name__ == "__main__":
    main()
