"""The main job: a source in, time-aligned events out."""
import json
import os
import re
import signal
import subprocess
import time

import pytest
import score
from conftest import SACCADE, SAMPLE, ffmpeg, saccade


def test_every_line_is_an_event_of_the_schema(sample_run):
    assert sample_run.code == 0, sample_run.err
    kinds = {"caption", "answer", "alert", "text", "speech", "scene", "drop", "status", "knobs", "stats"}
    for previous, event in zip([None, *sample_run.events], sample_run.events):
        assert event["v"] == 1 and event["kind"] in kinds and event["stream"]
        assert previous is None or event["seq"] == previous["seq"] + 1
        if "t0" in event and "t1" in event:
            assert event["t0"] <= event["t1"]


def test_planted_texts_are_read_at_their_time(sample_run, truth):
    scores = score.text_scores(sample_run.events, truth)
    assert scores["cer"] <= 0.03, scores
    assert scores["start_error_frames_max"] <= 1.01 and scores["end_error_frames_max"] <= 1.01, scores


def test_planted_announcements_are_heard_at_their_time(sample_run, truth):
    scores = score.speech_scores(sample_run.events, truth)
    assert scores["found"] == scores["planted"], scores
    assert scores["start_error_ms_max"] <= 300, scores
    assert not scores["invented"], scores


def test_scene_cuts_are_found(sample_run, truth):
    cuts = [e["t0"] for e in sample_run.kinds("scene")]
    for planted in truth["cuts"]:
        assert any(abs(c - planted) <= 1.01 / truth["fps"] for c in cuts), (planted, cuts)
    assert len(cuts) <= len(truth["cuts"]) + 1, cuts


def test_an_unchanged_stretch_costs_no_answer(sample_run, truth):
    for still in truth["unchanged"]:
        inside = [e for e in sample_run.kinds("caption")
                  if still["t0"] + 0.5 < e["t0"] < still["t1"] - 0.5]
        assert not inside
    summary = sample_run.kinds("stats")[-1]["numbers"]
    assert summary["frames_unchanged"] >= 80, summary


def test_captions_carry_age_ledger_and_confidence(sample_run):
    # The second event of an id ends its span and says neither again (docs/events.md).
    first = {e["id"]: e for e in reversed(sample_run.kinds("caption"))}
    assert first
    for event in first.values():
        assert event["text"] and 0 <= event["confidence"] <= 1
        assert event["frame_age_ms"] > 0
        assert event["stages"]["see"] > 0 and event["stages"]["decode"] > 0


def test_same_input_gives_same_answers(clip):
    def told():
        run = saccade("watch", clip, "--json", "--senses", "see")
        assert run.code == 0, run.err
        return [(e["t0"], e["text"]) for e in run.kinds("caption")]
    assert told() == told()


def test_several_prompts_and_an_alert(clip):
    run = saccade("watch", clip, "--json", "--senses", "see", "--prompt", "How many shapes are there?",
                  "--prompt", "What do you see?", "--alert", "Is there a red circle?")
    assert run.code == 0, run.err
    answers = run.kinds("answer") + run.kinds("caption")
    assert len({e["prompt"] for e in answers}) == 2
    alerts = run.kinds("alert")
    assert alerts and all(0 <= e["confidence"] <= 1 and "yes" in e for e in alerts)


def test_stdin(clip):
    run = saccade("watch", "-", "--json", "--senses", "see,hear",
                  stdin=subprocess.run(["ffmpeg", "-v", "error", "-i", clip, "-c", "copy", "-f", "mpegts", "-"],
                                       capture_output=True, check=True).stdout)
    assert run.code == 0, run.err
    assert run.kinds("caption") and run.kinds("speech")


def test_second_audio_source(clip, tmp_path):
    ffmpeg("-i", clip, "-an", "-c", "copy", tmp_path / "v.mp4")
    ffmpeg("-i", clip, "-vn", tmp_path / "a.wav")
    run = saccade("watch", tmp_path / "v.mp4", "--audio", tmp_path / "a.wav", "--json")
    assert run.code == 0, run.err
    assert run.kinds("speech") and run.kinds("caption")


def test_out_files(clip, tmp_path):
    for ending in ("vtt", "srt", "jsonl"):
        out = tmp_path / f"out.{ending}"
        run = saccade("watch", clip, "--out", out, "--quiet")
        assert run.code == 0, run.err
        text = out.read_text()
        if ending == "jsonl":
            assert any(json.loads(line)["kind"] == "speech" for line in text.splitlines())
        else:
            times = [int(h) * 3600000 + int(m) * 60000 + int(s) * 1000 + int(ms) for h, m, s, ms in
                     re.findall(r"(\d+):(\d\d):(\d\d)[.,](\d{3})", text)]
            assert times and times == sorted(times) and "pump" in text.lower()
        assert not list(tmp_path.glob("*.partial*"))


def test_realtime_takes_the_time_of_the_media(clip):
    started = time.monotonic()
    run = saccade("watch", clip, "--json", "--realtime", "--senses", "see")
    assert run.code == 0, run.err
    assert time.monotonic() - started >= 5.5


@pytest.mark.parametrize("sig,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_run_cleanly(sig, code):
    process = subprocess.Popen([SACCADE, "watch", SAMPLE, "--json", "--realtime", "--loop"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    time.sleep(4)
    process.send_signal(sig)
    out, err = process.communicate(timeout=15)
    assert process.returncode == code, err
    assert json.loads(out.splitlines()[-1])["kind"] == "stats"


def test_a_prompt_that_the_model_was_not_trained_on_is_noted():
    known = saccade("ask", SAMPLE, "What do you see?")
    assert known.code == 0 and "note" not in known.err, known.err
    unknown = saccade("ask", SAMPLE, "Who wrote Hamlet?")
    assert unknown.code == 0 and '"Who wrote Hamlet?" is no kind of question' in unknown.err, unknown.err
    run = saccade("watch", SAMPLE, "--duration-s", "1", "--senses", "see", "--prompt", "Is it raining?", "--quiet")
    assert run.code == 0 and "note" not in run.err
    listed = saccade("models")
    assert "What color is the {shape}?" in listed.out
