"""The clips of make_eval.py through `saccade watch`: was each state answered right, and how soon after the event?

  python make_eval.py OUT && python score_clips.py OUT [--binary ../../build/release/saccade] [--type f16]

A state counts as right when the answer that stands in the middle of it is the planted one. Delay = start of the first answer
of a state (media time) minus the event. Per kind, with Wilson 95 % intervals.
"""
import argparse, json, os, subprocess
from intervals import wilson

HERE = os.path.dirname(os.path.abspath(__file__))


def watch(a, clip):
    """[(t0, answer)] in media time."""
    cmd = [a.binary, "watch", os.path.join(a.out, clip["file"]), "--prompt", clip["question"], "--senses", "see", "--fps", str(a.fps), "--json",
           "--model", os.path.join(HERE, f"saccade-mini-text-{a.type}.gguf"), "--mmproj", os.path.join(HERE, f"saccade-mini-mmproj-{a.type}.gguf")]
    p = subprocess.run(cmd, capture_output=True, text=True, timeout=300, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    if p.returncode:
        raise RuntimeError(p.stderr[-2000:])
    return sorted((e["t0"], e["text"].strip()) for e in map(json.loads, p.stdout.splitlines()) if e["kind"] == "answer")


def score(clip, answers):
    """[(right, delay or None)] per state."""
    out = []
    for s in clip["states"]:
        mid = (s["t0"] + s["t1"]) / 2
        standing = [x for t, x in answers if t <= mid]
        first = [t for t, _ in answers if s["t0"] - 0.05 <= t < s["t1"]]
        out.append((bool(standing) and standing[-1] == s["answer"], first[0] - s["t0"] if first else None))
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--binary", default=os.path.join(HERE, "../../build/release/saccade"))
    ap.add_argument("--type", default="f16")
    ap.add_argument("--fps", type=float, default=5)
    ap.add_argument("--json")
    a = ap.parse_args()
    with open(os.path.join(a.out, "clips.jsonl")) as f:
        films = [json.loads(line) for line in f]
    by = {}
    for clip in films:
        by.setdefault(clip["kind"], []).append(score(clip, watch(a, clip)))
    res = {}
    for kind, rows in list(by.items()) + [("all", sum(by.values(), []))]:
        states = [s for r in rows for s in r]
        late = [d for r in rows for _, d in r[1:]]
        seen = sorted(d for d in late if d is not None)
        res[kind] = dict(clips=len(rows), states=len(states), right=wilson(sum(ok for ok, _ in states), len(states)), events=len(late),
                         noticed=wilson(len(seen), len(late)), delay_p50=round(seen[len(seen) // 2], 3) if seen else None)
        print(kind, json.dumps(res[kind]))
    if a.json:
        json.dump(res, open(a.json, "w"), indent=1)


if __name__ == "__main__":
    main()
