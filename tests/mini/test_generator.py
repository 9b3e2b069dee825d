"""The scene generator and the evaluation set: labels, truth and pixels must agree. Needs numpy and Pillow only."""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

MINI = pathlib.Path(__file__).resolve().parents[2] / "models/mini"
sys.path.insert(0, str(MINI))
import clips  # noqa: E402
import scenes  # noqa: E402

PER_TASK = 40


@pytest.fixture(scope="module")
def items():
    return list(scenes.eval_set(PER_TASK))


def of(items, task):
    return [x for x in items if x["task"] == task]


def cell_of(box):
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return scenes.CELLS[min(2, int(y // 64)) * 3 + min(2, int(x // 64))]


def shapes(item, picture=0):
    return [t for t in item["truth"][picture] if t["kind"] == "shape"]


def test_same_seed_same_item_and_other_seeds_others(items):
    again = list(scenes.eval_set(PER_TASK))
    for a, b in zip(items, again):
        assert (a["id"], a["question"], a["answer"]) == (b["id"], b["question"], b["answer"])
        assert all(np.array_equal(x, y) for x, y in zip(a["images"], b["images"]))
    assert len({x["images"][0].tobytes() for x in items}) == len(items)


def test_every_task_is_there_equally_often(items):
    assert [len(of(items, t)) for t in scenes.TASKS] == [PER_TASK] * 8
    assert {len(x["images"]) for x in of(items, "motion")} == {2}


def test_counts_follow_from_the_truth(items):
    for x in of(items, "count"):
        kind = re.fullmatch(r"How many (\w+?)s? (?:shapes )?(?:are there|do you see)\?", x["question"])[1]
        there = shapes(x)
        if kind in scenes.SHAPES:
            there = [s for s in there if s["shape"] == kind]
        elif kind in scenes.COLORS:
            there = [s for s in there if s["color"] == kind]
        assert x["answer"] == str(len(there)), x["question"]


def test_captions_name_every_shape_at_its_place(items):
    for x in of(items, "caption"):
        parts = [f"{scenes.an(s['color'])} {s['shape']} at the {cell_of(s['box'])}" for s in shapes(x)]
        assert x["answer"] == scenes.join(parts) + "."


def test_readings_stand_in_the_picture_under_their_label(items):
    for x in of(items, "number"):
        texts = [t["text"] for t in x["truth"][0] if t["kind"] == "text"]
        label = next((name for name in scenes.LABELS if name in x["question"]), texts[0])
        assert texts[texts.index(label) + 1] == x["answer"]


def test_alarms_are_the_lit_red_and_yellow_lamps(items):
    for x in of(items, "lamp"):
        lamps = [(scenes.CELLS.index(cell_of(t["box"])), t["color"], t["lit"]) for t in x["truth"][0]]
        assert x["answer"] == scenes.alarm_answer(lamps)


def test_signs_say_what_the_truth_says(items):
    for x in of(items, "sign"):
        assert x["answer"] == x["truth"][0][-1]["text"]


def test_gauges_show_the_level_of_the_truth(items):
    for x in of(items, "gauge"):
        gauges = {t["name"]: t["level"] for t in x["truth"][0] if t["kind"] == "gauge"}
        name = re.search(r"(?:of|is) ([ABC])\?", x["question"])
        assert x["answer"] == f"{gauges[name[1] if name else '']}%"


def test_shapes_have_their_colour_and_lit_lamps_are_bright(items):
    def centre(item, box):
        x, y = int((box[0] + box[2]) / 2), int((box[1] + box[3]) / 2)
        return item["images"][0][y - 2:y + 3, x - 2:x + 3].reshape(-1, 3).mean(0)
    for x in of(items, "shape"):
        for s in shapes(x):
            assert scenes.dist(centre(x, s["box"]), scenes.COLORS[s["color"]]) < 40
    light = {True: [], False: []}
    for x in of(items, "lamp"):
        for t in x["truth"][0]:
            light[t["lit"]].append(centre(x, t["box"]).max())
    assert min(light[True]) > max(light[False])


@pytest.mark.parametrize("grid", [12, 8, 6])
def test_patch_labels_sit_where_things_are(grid, items):
    scene, _, _ = scenes.make_scene("caption", 4)
    labels = scenes.raster(scene.aux[0], grid).reshape(grid, grid, -1)
    for s in scene.truth[0]:
        x, y = (int((s["box"][i] + s["box"][i + 2]) / 2 * grid / 192) for i in (0, 1))
        assert labels[y, x, 2] == scenes.AUX_SHAPE[s["shape"]]
        assert labels[y, x, 3] == scenes.AUX_COLOR[s["color"]]
    assert (labels[..., 2] > 0).mean() < 0.5


@pytest.mark.parametrize("kind", clips.KINDS)
def test_clips_change_at_their_events_and_nowhere_else(kind):
    for seed in range(3):
        clip = clips.make(kind, seed)
        pictures = [p.astype(int) for p in clip["pictures"]]
        assert len(pictures) == clip["seconds"] * clips.FPS
        at = [round(e["t"] * clips.FPS) for e in clip["events"]]
        assert len(at) >= 2 and at == [round(s["t0"] * clips.FPS) for s in clip["states"][1:]]
        for before, after in zip(clip["states"], clip["states"][1:]):
            assert before["t1"] == after["t0"]
        loud = [k for k in range(1, len(pictures)) if np.abs(pictures[k] - pictures[k - 1]).max(2).max() > 60]
        assert loud == at, f"{kind} {seed}"
        for k, event in zip(at, clip["events"]):
            x0, y0, x1, y1 = (int(v) for v in event["box"])
            assert np.abs(pictures[k] - pictures[k - 1])[y0:y1 + 1, x0:x1 + 1].max() > 60


def test_avi_holds_the_pictures_and_the_sound(tmp_path):
    clip = clips.make("lamps", 1)
    sound = (np.sin(np.arange(clip["seconds"] * 16000) / 5) * 8000).astype(np.int16)
    clips.write_avi(tmp_path / "a.avi", clip["pictures"], sound)

    def decode(*flags):
        return subprocess.run(["ffmpeg", "-v", "error", "-i", tmp_path / "a.avi", *flags, "-"], check=True,
                              capture_output=True).stdout
    seen = np.frombuffer(decode("-f", "rawvideo", "-pix_fmt", "rgb24"), np.uint8).reshape(-1, 192, 192, 3)
    assert len(seen) == len(clip["pictures"])
    assert np.abs(seen.astype(int) - np.stack(clip["pictures"])).mean() < 4
    assert np.array_equal(np.frombuffer(decode("-f", "s16le"), "<i2"), sound)


def test_make_eval_writes_pictures_clips_and_labels(tmp_path):
    subprocess.run([sys.executable, MINI / "make_eval.py", tmp_path, "--per-task", "2", "--clips", "5",
                    "--speech", "1"], check=True)
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert len(items) == 16
    first = next(scenes.eval_set(1))
    assert np.array_equal(np.asarray(Image.open(tmp_path / items[0]["files"][0])), first["images"][0])
    films = [json.loads(line) for line in (tmp_path / "clips.jsonl").read_text().splitlines()]
    assert [f["kind"] for f in films[:5]] == clips.KINDS and len(films) == 6
    assert all((tmp_path / f["file"]).stat().st_size > 10_000 for f in films)
    spoken = films[5]["speech"][0]
    assert films[5]["events"][0]["t"] < spoken["t0"] < spoken["t1"] <= films[5]["seconds"]
