"""What the sample's screen reads and what is said in it, exactly. See tests/golden/README.md."""
import json
import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/golden"))
import golden  # noqa: E402


def settled(events):
    """The last word on each text and utterance, by time: a line each. Times to 0.1 s."""
    last = {e["id"]: e for e in events if e["kind"] in ("text", "speech")}
    rows = [{"kind": e["kind"], "t0": round(e["t0"], 1), "t1": round(e["t1"], 1), "text": e["text"]}
            for e in last.values() if e["text"]]
    rows.sort(key=lambda row: (row["t0"], row["kind"], row["text"]))
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def test_texts_and_speech_of_the_sample_are_the_committed_ones(sample_run):
    assert sample_run.code == 0, sample_run.err
    found = golden.difference(settled(sample_run.events), "sample.jsonl")
    assert not found, found
