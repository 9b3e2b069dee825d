"""Live streams against a deadline: governed, not governed, and llama.cpp's server, in one run on the same weights.

  python bench/governor.py                  fifteen minutes; writes build/bench/governor.json and one line to
                                            bench/results/governor.jsonl
  python bench/governor.py --peer PROGRAM   llama-server to compare with (default: build/peers/llama/bin/llama-server)

Every stream is a 720p film at 10 pictures a second in which something moves in every picture, played in real time. An
answer counts when it is out within the deadline of its picture. Not governed means policy `none`: the streams take
turns and their newest pictures win, but nothing is given up and nothing is refused. Its collapse is the smallest
number of streams at which more than 1 % of the answers are late. The peer gets the newest picture of each stream as
JPEG from one thread per stream, which is what a careful client does; same prompt, greedy, same limit. Nothing is
asserted.
"""
import argparse
import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from watch import percentile, record_to  # noqa: E402

SACCADE = ROOT / "build/release/saccade"
SAMPLE = ROOT / "build/sample/control-room.mp4"
MODELS = ROOT / "models/mini"
FOLDER = ROOT / "build/bench"
PROMPT, TOKENS_MAX, FPS = "What do you see?", 24, 10
WARM_UP_S = 10


def make_film():
    """The sample with a square that never rests."""
    film = FOLDER / "moving.mp4"
    if not film.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", SAMPLE, "-f", "lavfi", "-i",
                        f"color=c=0x30c060:s=160x160:r={FPS}", "-filter_complex",
                        "[0:v][1:v]overlay=x='mod(t*260,1120)':y='260+200*sin(t)':shortest=1", "-an", "-c:v", "libx264",
                        "-preset", "veryfast", "-g", "10", str(film)], check=True)
    return film


class Ages:
    """Answers of all streams: (when it came, seconds since the start; age in ms)."""

    def __init__(self, streams):
        self.lock = threading.Lock()
        self.start = time.monotonic()
        self.answers = [[] for _ in range(streams)]

    def add(self, stream, age_ms):
        with self.lock:
            self.answers[stream].append((time.monotonic() - self.start, age_ms))

    def summary(self, seconds, slo_ms, refused=()):
        with self.lock:
            kept = [[age for at, age in one if WARM_UP_S < at < seconds] for one in self.answers]
        ages = [age for one in kept for age in one]
        span = seconds - WARM_UP_S
        in_time = sum(age <= slo_ms for age in ages)
        return {"streams": len(kept), "answers": len(ages), "answers_per_s": round(len(ages) / span, 2),
                "in_time_per_s": round(in_time / span, 2),
                "least_served_per_s": round(min(len(one) for i, one in enumerate(kept) if i not in refused) / span, 2),
                "miss_share": round(1 - in_time / len(ages), 4) if ages else 1.0,
                "age_p50_ms": percentile(ages, 0.5), "age_p95_ms": percentile(ages, 0.95),
                "age_p99_ms": percentile(ages, 0.99)}


class Server:
    def __init__(self, *flags):
        self.process = subprocess.Popen(
            [SACCADE, "serve", "--port", "0", "--admin-listen", "127.0.0.1:0", "--media-path", FOLDER,
             "--streams-max", "64", "--senses", "see", *flags], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
            env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        for line in self.process.stderr:
            match = re.search(rb"serving on http://[^:]+:(\d+), admin on http://[^:]+:(\d+)", line)
            if match:
                self.port, self.admin = int(match[1]), int(match[2])
                break
        else:
            sys.exit("saccade serve did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def call(self, method, path, body=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, json.dumps(body) if body else None)
            reply = connection.getresponse()
            return reply.status, reply.read().decode()

    def metric(self, name):
        match = re.search(rf"^{re.escape(name)} (\S+)$", self.call("GET", "/metrics", port=self.admin)[1], re.M)
        return float(match[1])

    def turns(self):
        """Answers so far: (in time, late). An answer that says the same as the one before makes no event."""
        return [self.metric(f'saccade_governor_turns_total{{outcome="{outcome}"}}') for outcome in ("in_time", "late")]

    def follow(self, stream, on_event):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", f"/v1/streams/{stream}/events")
        for line in connection.getresponse():
            if line.startswith(b"data:"):
                on_event(json.loads(line[5:]))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()


def watch_streams(server, count, policy, slo_ms, refused):
    """Starts the streams; gives (ages, list of (time, rung))."""
    ages, rungs = Ages(count), []

    def follow(index):
        seen = set()

        def on_event(event):
            if event["kind"] == "answer" and event["id"] not in seen:
                seen.add(event["id"])
                ages.add(index, event["frame_age_ms"])
            if event["kind"] == "knobs":
                rungs.append((time.monotonic(), event.get("reason", "")))
        body = {"source": "file:///moving.mp4", "id": f"s{index}", "senses": ["see"], "realtime": True, "loop": True,
                "fps": FPS, "max_new_tokens": TOKENS_MAX, "prompts": [PROMPT], "policy": policy}
        if policy != "none":
            body["slo_ms"] = slo_ms
        status, text = server.call("POST", "/v1/streams", body)
        if status != 201:
            refused.append(index)
            return
        server.follow(f"s{index}", on_event)
    for index in range(count):
        threading.Thread(target=follow, args=(index,), daemon=True).start()
        time.sleep(0.02)
    return ages, rungs


def run_saccade(count, policy, seconds, slo_ms, recover=False):
    server, refused = Server(), []
    ages, rungs = watch_streams(server, count, policy, slo_ms, refused)
    time.sleep(WARM_UP_S)
    before = server.turns()
    time.sleep(seconds - WARM_UP_S)
    in_time, late = (now - then for now, then in zip(server.turns(), before))
    if policy == "none":  # its deadline is none, so the server calls nothing late
        share = ages.summary(seconds, slo_ms, refused)["miss_share"]
        in_time, late = in_time * (1 - share), in_time * share
    counted = {"answers": int(in_time + late), "in_time_per_s": round(in_time / (seconds - WARM_UP_S), 2),
               "answers_per_s": round((in_time + late) / (seconds - WARM_UP_S), 2),
               "miss_share": round(late / (in_time + late), 4) if in_time + late else 1.0}
    out = {"policy": policy, **ages.summary(seconds, slo_ms, refused), **counted, "refused": len(refused),
           "rung": rungs[-1][1] if rungs else "", "width": server.metric("saccade_governor_width"),
           "prediction_mape": round(server.metric("saccade_governor_prediction_error_ratio"), 3)}
    if recover:
        for index in range(1, count):
            server.call("DELETE", f"/v1/streams/s{index}")
        gone = time.monotonic()
        time.sleep(15)
        full = [at - gone for at, rung in rungs if rung == "full" and at > gone]
        out["recovery_s"] = 0.0 if out["rung"] == "full" else round(min(full), 2) if full else None
    server.end()
    print(json.dumps(out), flush=True)
    return out


def pictures_of(film):
    folder = FOLDER / "moving"
    if not folder.exists():
        folder.mkdir()
        subprocess.run(["ffmpeg", "-v", "error", "-i", film, "-q:v", "4", str(folder / "%04d.jpg")], check=True)
    return ["data:image/jpeg;base64," + base64.b64encode(picture.read_bytes()).decode()
            for picture in sorted(folder.glob("*.jpg"))]


def run_peer(program, count, seconds, slo_ms, slots):
    """`slots`: of the server, and requests at once; a stream takes its newest picture when one is free."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [program, "-m", MODELS / "saccade-mini-text-f16.gguf", "--mmproj", MODELS / "saccade-mini-mmproj-f16.gguf",
         "--port", str(port), "-np", str(slots), "-c", str(1024 * slots), "-t", str(os.cpu_count()), "--no-webui"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    for _ in range(200):
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                break
        time.sleep(0.1)
    pictures = pictures_of(make_film())
    ages, ending, free = Ages(count), threading.Event(), threading.Semaphore(slots)

    def ask(connection, newest):
        body = {"max_tokens": TOKENS_MAX, "temperature": 0, "messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": pictures[newest % len(pictures)]}},
            {"type": "text", "text": PROMPT}]}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        reply = connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            sys.exit(f"llama-server: {reply.status} {text[:300]}")

    def client(index):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        last = -1
        while not ending.is_set():
            with free:
                now = time.monotonic() - ages.start
                newest = int(now * FPS)
                if newest > last and not ending.is_set():
                    ask(connection, newest)
                    ages.add(index, (time.monotonic() - ages.start - newest / FPS) * 1e3)
            if newest == last:
                time.sleep((newest + 1) / FPS - now)
            last = newest
    for index in range(count):
        threading.Thread(target=client, args=(index,), daemon=True).start()
    time.sleep(seconds)
    ending.set()
    time.sleep(1)
    out = {"policy": "llama-server", "slots": slots, **ages.summary(seconds, slo_ms)}
    process.kill()
    process.wait()
    print(json.dumps(out), flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", default=ROOT / "build/peers/llama/bin/llama-server", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--slo-ms", type=int, default=300)
    parser.add_argument("--steps", default="1,2,3,4,6,8,12,16", help="numbers of streams tried without a governor")
    args = parser.parse_args()
    make_film()

    free = []
    for count in map(int, args.steps.split(",")):
        free.append(run_saccade(count, "none", args.seconds, args.slo_ms))
        if free[-1]["miss_share"] > 0.01:
            break
    collapse = free[-1]["streams"]
    governed = [run_saccade(round(collapse * times), "captions", args.seconds, args.slo_ms, recover=times == 4)
                for times in (1, 2, 3, 4)]
    also_free = [run_saccade(round(collapse * times), "none", args.seconds, args.slo_ms) for times in (2, 4)]
    peer = []
    if args.peer.exists():
        for count, slots in ((1, 1), (collapse, 1), (collapse, 2), (4 * collapse, 1), (4 * collapse, 2)):
            peer.append(run_peer(args.peer, count, args.seconds, args.slo_ms, slots))
    control = json.loads(subprocess.run([ROOT / "build/release/bench/bench_control"], capture_output=True, text=True,
                                        check=True).stdout)
    peak = max(run["in_time_per_s"] for run in free + governed)
    numbers = {
        "slo_ms": args.slo_ms, "seconds": args.seconds, "collapse_streams": collapse,
        "miss_share_at_4x": governed[3]["miss_share"],
        "goodput_at_3x": round(governed[2]["in_time_per_s"] / peak, 3),
        "recovery_s": governed[3]["recovery_s"], "prediction_mape": governed[3]["prediction_mape"],
        "controller_ms_p999": control["us_p999"] / 1e3,
        "governed": governed, "not_governed": free + also_free, "llama_server": peer}
    if peer:
        numbers["answers_in_deadline_vs_llama_server"] = {
            "one_stream": ratio(free[0], [p for p in peer if p["streams"] == 1]),
            "at_collapse": ratio(governed[0], [p for p in peer if p["streams"] == collapse]),
            "at_4x": ratio(governed[3], [p for p in peer if p["streams"] == 4 * collapse])}
    (FOLDER / "governor.json").write_text(json.dumps(numbers, indent=1))
    record_to(ROOT / "bench/results/governor.jsonl", "governor", numbers)


def ratio(ours, peers):
    """In-time answers over those of the peer at its best setting; null when it had none in time."""
    best = max(p["in_time_per_s"] for p in peers)
    return round(ours["in_time_per_s"] / best, 2) if best > 0 else None


if __name__ == "__main__":
    main()
