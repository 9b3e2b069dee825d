"""Every family of vision-language models with a graph of ours: both engines say the same, word for word.

The models have random weights, so what they say means nothing; that both engines say it does.
"""
import subprocess

import pytest
from conftest import ROOT, SACCADE, SAMPLE, ffmpeg, saccade

WRITE_FAMILY = SACCADE.parent / "saccade-write-family"
FAMILIES = ["qwen2vl", "qwen2.5vl"]


@pytest.fixture(scope="module", params=FAMILIES)
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run([str(WRITE_FAMILY), request.param, str(folder)], check=True, cwd=ROOT)
    return ["--model", folder / "model.gguf", "--mmproj", folder / "mmproj.gguf"]


@pytest.fixture(scope="module")
def small_clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.mp4"
    ffmpeg("-ss", "2", "-t", "4", "-i", SAMPLE, "-an", "-vf", "scale=322:182", path)
    return path


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "picture.png"
    ffmpeg("-ss", "4", "-i", SAMPLE, "-frames:v", "1", "-vf", "scale=300:170", path)
    return path


def both(*args):
    """What the two engines say, as (native, llama.cpp)."""
    runs = [saccade(*args, "--engine", engine, "--max-new-tokens", "12") for engine in ("native", "llama")]
    for run in runs:
        assert run.code == 0, run.err
    return runs


def test_watch_says_the_same_with_both_engines(model, small_clip):
    ours, theirs = both("watch", small_clip, "--json", "--senses", "see", "--fps", "2", *model)
    told = [[(e["t0"], e["text"]) for e in run.kinds("caption")] for run in (ours, theirs)]
    assert told[0] and told[0] == told[1]


def test_ask_says_the_same_with_both_engines(model, picture):
    ours, theirs = both("ask", picture, "What does TEMP read?", *model)
    assert ours.out.strip() and ours.out == theirs.out


def test_reduced_pictures_keep_their_places(model, small_clip):
    run = saccade("watch", small_clip, "--json", "--senses", "see", "--fps", "1", "--keep-share", "0.5",
                  "--max-new-tokens", "4", *model)
    assert run.code == 0, run.err
    assert run.kinds("caption")
