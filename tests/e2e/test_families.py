"""Every family of vision-language models with a graph of ours: both engines say the same, word for word.

The models have random weights, so what they say means nothing; that both engines say it does.
"""
import subprocess

import pytest
from conftest import ROOT, SACCADE, SAMPLE, ffmpeg, saccade

WRITE_FAMILY = SACCADE.parent / "saccade-write-family"
# libmtmd reads the class token of the other two in another place than they are published with
# (docs/decisions/0010), so what it says differs.
SAME = ["smolvlm", "qwen2vl", "qwen2.5vl", "qwen3vl", "llava-siglip"]
OWN = ["llava", "internvl"]


def write_family(name, tmp_path_factory):
    folder = tmp_path_factory.mktemp(name)
    subprocess.run([str(WRITE_FAMILY), name, str(folder)], check=True, cwd=ROOT)
    return ["--model", folder / "model.gguf", "--mmproj", folder / "mmproj.gguf"]


@pytest.fixture(scope="module", params=SAME)
def model(request, tmp_path_factory):
    return write_family(request.param, tmp_path_factory)


@pytest.fixture(scope="module", params=SAME + OWN)
def any_model(request, tmp_path_factory):
    return write_family(request.param, tmp_path_factory)


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


def test_the_choice_is_ours_and_pictures_can_be_reduced(any_model, small_clip):
    """--keep-share below 1 works with our own engine only, so `auto` must have chosen it."""
    run = saccade("watch", small_clip, "--json", "--senses", "see", "--fps", "1", "--keep-share", "0.5",
                  "--max-new-tokens", "4", *any_model)
    assert run.code == 0, run.err
    assert run.kinds("caption")
