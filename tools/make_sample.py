#!/usr/bin/env python3
"""Makes the bundled sample: a control-room recording whose every text, lamp, shape and word is known.

    python make_sample.py build/sample            writes control-room.mp4 and control-room.truth.json
    python make_sample.py build/sample --check    reads them back with ffprobe and compares

Needs Pillow, numpy and the programs ffmpeg, ffprobe and espeak-ng. The same seed gives the same pictures and
sound on one machine. The truth is collected while drawing, so it cannot differ from the pictures; times of
speech are measured in the sound after its leading silence was cut off. Times are seconds, boxes are
[x, y, width, height] in pixels around the ink.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, FPS, DURATION_S, RATE = 1280, 720, 10, 42.0, 48_000
FONTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "mini", "fonts")
COLOURS = {"red": (214, 38, 38), "blue": (40, 78, 216)}  # as the default model was taught
LIGHTS = {"red": (255, 40, 36), "green": (50, 240, 80), "blue": (60, 130, 255), "yellow": (255, 226, 50)}
CELLS = ["top left", "top", "top right", "left", "center", "right", "bottom left", "bottom", "bottom right"]

# ---------------------------------------------------------------- the story
# One scene follows the other by a hard cut; inside a scene values change at the given times.
SCENES = [
    dict(name="pumps", start=0.0, state=dict(temp="73.5", pres="4.20", flow="118", rpm="0", pump1=True, pump2=False,
                                             door=False, alarm=False, sign=""),
         changes=[(2.0, dict(pump2=True)), (2.5, dict(rpm="1480")), (5.0, dict(temp="74.1")), (6.5, dict(flow="126")),
                  (7.5, dict(sign="AUTHORISED STAFF ONLY", door=True)), (11.5, dict(sign="", door=False)),
                  (12.5, dict(temp="78.9"))]),
    dict(name="tanks", start=14.0, state=dict(level=62, valve="OPEN", mixer=True),
         changes=[(16.5, dict(level=58)), (18.0, dict(valve="CLOSED")), (20.5, dict(mixer=False))]),
    dict(name="shapes", start=22.0, state=dict(objects=(("red", "circle", "left"),)),
         changes=[(25.5, dict(objects=(("red", "circle", "left"), ("blue", "square", "right"))))]),
    dict(name="pumps", start=29.0, state=dict(temp="91.4", pres="5.65", flow="126", rpm="1480", pump1=True, pump2=True,
                                              door=False, alarm=True, sign="WARNING HIGH TEMPERATURE"),
         changes=[(39.5, dict(alarm=False, sign="")), (40.5, dict(temp="79.0"))]),
]
SPEECH = [(3.2, "Attention please. Pump two is now running."), (8.6, "This door is for authorized staff only."),
          (18.6, "The main valve has been closed."), (31.0, "Warning. The temperature is too high."),
          (38.4, "The alarm is over. Thank you.")]
NOISE = [(23.0, 28.0)]
QUESTIONS = [(1.0, "Is any alarm lit?", "no."), (35.0, "Is any alarm lit?", "yes, red at the right."),
             (23.5, "What do you see?", "a red circle at the left."), (23.5, "How many shapes are there?", "1"),
             (23.5, "What color is the circle?", "red"), (23.5, "Where is the circle?", "left"),
             (27.0, "What do you see?", "a red circle at the left and a blue square at the right."),
             (27.0, "How many shapes are there?", "2"), (27.0, "What color is the square?", "blue")]


# ---------------------------------------------------------------- pictures
class Screen:
    """One picture in the making; keeps account of what is drawn. Edges are smooth: areas are drawn twice as large."""

    def __init__(self, background):
        self.large = Image.new("RGB", (WIDTH * 2, HEIGHT * 2), background)
        self.areas = ImageDraw.Draw(self.large)
        self.letters, self.texts, self.states = [], [], []

    def box(self, x, y, w, h, fill, radius=0, outline=None):
        self.areas.rounded_rectangle([x * 2, y * 2, (x + w) * 2 - 1, (y + h) * 2 - 1], radius * 2, fill, outline, 3)

    def disc(self, x, y, r, fill, outline=None):
        self.areas.ellipse([(x - r) * 2, (y - r) * 2, (x + r) * 2, (y + r) * 2], fill, outline, 4)

    def text(self, x, y, words, size, fill, name="DejaVuSans-Bold.ttf", anchor="lm"):
        """`x`, `y` is the anchor: left or middle of the line at half its capital height."""
        font = ImageFont.truetype(os.path.join(FONTS, name), size)
        base = y + font.getbbox("H", anchor="ls")[1] / -2
        where = (x, round(base))
        x0, y0, x1, y1 = font.getbbox(words, anchor=anchor[0] + "s")
        self.letters.append((where, words, font, fill, anchor[0] + "s"))
        self.texts.append((words, (round(x + x0), round(where[1] + y0), round(x1 - x0), round(y1 - y0))))

    def lamp(self, x, y, r, colour, lit, label, ink):
        light = LIGHTS[colour]
        self.disc(x, y, r + 7, (22, 25, 30), (116, 122, 130))
        self.disc(x, y, r, light if lit else tuple(int(v * 0.27) + 12 for v in light))
        if lit:
            self.disc(x, y, r * 0.55, tuple(int(v + (255 - v) * 0.55) for v in light))
        self.text(x, y + r + 34, label, 26, ink, anchor="mm")
        self.states.append(dict(kind="lamp", name=label, colour=colour, lit=lit,
                                box=[x - r, y - r, 2 * r, 2 * r]))

    def finish(self):
        picture = self.large.resize((WIDTH, HEIGHT), Image.LANCZOS)
        pen = ImageDraw.Draw(picture)
        for where, words, font, fill, anchor in self.letters:
            pen.text(where, words, font=font, fill=fill, anchor=anchor)
        return picture


def title_bar(s, title, fill, ink):
    s.box(0, 0, WIDTH, 76, fill)
    s.text(40, 38, title, 34, ink, "LiberationSans-Bold.ttf")


def reading(s, y, words, stripe, ink=(236, 240, 245), card=(30, 38, 50)):
    s.box(40, y, 640, 92, card, 12)
    s.box(40, y, 14, 92, stripe, 6)
    s.text(84, y + 46, words, 44, ink, "DejaVuSansMono-Bold.ttf")


def draw_pumps(v):
    s = Screen((16, 21, 29))
    title_bar(s, "NORTH STATION CONTROL ROOM", (24, 74, 124), (255, 255, 255))
    reading(s, 108, f"TEMP {v['temp']} C", (255, 176, 46), (255, 120, 100) if v["alarm"] else (236, 240, 245))
    reading(s, 216, f"PRES {v['pres']} BAR", (86, 180, 255))
    reading(s, 324, f"FLOW {v['flow']} L/MIN", (90, 220, 170))
    reading(s, 432, f"PUMP 2 RPM {v['rpm']}", (196, 140, 255))
    s.box(720, 108, 520, 416, (30, 38, 50), 12)
    ink = (214, 220, 228)
    s.lamp(852, 196, 46, "green", v["pump1"], "PUMP 1", ink)
    s.lamp(1108, 196, 46, "green", v["pump2"], "PUMP 2", ink)
    s.lamp(852, 396, 46, "yellow", v["door"], "DOOR", ink)
    s.lamp(1108, 396, 46, "red", v["alarm"], "ALARM", ink)
    if v["sign"]:
        warn = v["sign"].startswith("WARNING")
        s.box(40, 560, 1200, 120, (178, 24, 24) if warn else (240, 204, 40), 14)
        s.text(640, 620, v["sign"], 48, (255, 255, 255) if warn else (18, 18, 18), "LiberationSans-Bold.ttf", "mm")
    else:
        s.box(40, 560, 1200, 120, (22, 28, 38), 14)
    return s


def draw_tanks(v):
    s = Screen((226, 231, 236))
    title_bar(s, "TANK AND VALVE PANEL", (52, 92, 72), (255, 255, 255))
    ink, card = (24, 30, 38), (250, 251, 252)
    s.box(60, 130, 300, 520, (196, 204, 212), 16, (90, 98, 108))
    top = 130 + 8 + round(504 * (1 - v["level"] / 100))
    s.box(68, top, 284, 642 - top, (58, 134, 214), 10)
    for y, words in ((130, f"LEVEL {v['level']} %"), (250, f"VALVE 4 {v['valve']}"), (370, "BATCH K7-204")):
        s.box(420, y, 800, 96, card, 12, (190, 198, 206))
        s.text(456, y + 48, words, 40, ink)
    s.lamp(560, 556, 42, "green", v["valve"] == "OPEN", "VALVE 4", ink)
    s.lamp(820, 556, 42, "blue", v["mixer"], "MIXER", ink)
    s.lamp(1080, 556, 42, "red", False, "FAULT", ink)
    return s


def draw_shapes(v):
    s = Screen((206, 222, 192))
    for colour, shape, place in v["objects"]:
        cell = CELLS.index(place)
        x, y, r = round(WIDTH * (cell % 3 + 0.5) / 3), round(HEIGHT * (cell // 3 + 0.5) / 3), 116
        fill = COLOURS[colour]
        if shape == "circle":
            s.disc(x, y, r, fill)
        else:
            s.box(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, fill)
        s.states.append(dict(kind="shape", shape=shape, colour=colour, place=place, box=[x - r, y - r, 2 * r, 2 * r]))
    return s


DRAW = dict(pumps=draw_pumps, tanks=draw_tanks, shapes=draw_shapes)


def state_at(t):
    """(scene number, its state) at time `t`."""
    k = max(i for i, scene in enumerate(SCENES) if scene["start"] <= t + 1e-9)
    state = dict(SCENES[k]["state"])
    for when, change in SCENES[k]["changes"]:
        if when <= t + 1e-9:
            state.update(change)
    return k, state


class Spans:
    """Joins what is equal in neighbouring pictures of one scene into spans of time."""

    def __init__(self):
        self.open, self.done = {}, []

    def see(self, t, scene, items):
        now = {json.dumps([scene, item], sort_keys=True): item for item in items}
        for key in [k for k in self.open if k not in now]:
            self.done.append(dict(self.open.pop(key), t1=t))
        for key, item in now.items():
            self.open.setdefault(key, dict(item, t0=t))

    def close(self, t):
        self.see(t, -1, [])
        return sorted(self.done, key=lambda d: (d["t0"], d["box"][1], d["box"][0]))


def write_pictures(path):
    """Encodes the pictures without sound; returns what they show."""
    encode = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s",
              f"{WIDTH}x{HEIGHT}", "-r", str(FPS), "-i", "pipe:0", "-vf",
              "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-colorspace", "bt709", "-color_primaries",
              "bt709", "-color_trc", "bt709", "-color_range", "tv", "-c:v", "libx264", "-preset", "veryfast", "-crf",
              "18", "-g", "50", "-threads", "2", "-flags", "+bitexact", path]
    texts, states, before, unchanged = Spans(), Spans(), None, []
    with subprocess.Popen(encode, stdin=subprocess.PIPE) as ffmpeg:
        for i in range(round(DURATION_S * FPS)):
            t = i / FPS
            k, state = state_at(t)
            if (k, state) != before:
                screen = DRAW[SCENES[k]["name"]](state)
                pixels = screen.finish().tobytes()
                unchanged.append([t, t])
                before = (k, state)
            unchanged[-1][1] = round(t + 1 / FPS, 3)
            texts.see(t, k, [dict(text=w, box=list(b)) for w, b in screen.texts])
            states.see(t, k, screen.states)
            ffmpeg.stdin.write(pixels)
        ffmpeg.stdin.close()
        if ffmpeg.wait() != 0:
            sys.exit("make_sample: ffmpeg could not encode the pictures; see its message above")
    return dict(texts=texts.close(DURATION_S), states=states.close(DURATION_S),
                unchanged=[dict(t0=a, t1=b) for a, b in unchanged if b - a >= 5])


# ---------------------------------------------------------------- sound
def speak(words):
    """Mono float samples at RATE without silence before and after."""
    with tempfile.TemporaryDirectory() as folder:
        wav = os.path.join(folder, "speech.wav")
        subprocess.run(["espeak-ng", "-v", "en-us", "-s", "125", "-g", "4", "-p", "45", "-w", wav, words], check=True)
        raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", wav, "-ar", str(RATE), "-ac", "1", "-f",
                              "f32le", "-"], check=True, stdout=subprocess.PIPE).stdout
    samples = np.frombuffer(raw, np.float32)
    loud = np.flatnonzero(np.abs(samples) > 0.01 * np.abs(samples).max())
    samples = samples[loud[0]:loud[-1] + 1]
    return samples * (0.5 / np.abs(samples).max())


def write_sound(path, seed):
    """Writes float stereo samples; returns what is heard."""
    track = np.zeros(round(DURATION_S * RATE), np.float32)
    speech = []
    for t0, words in SPEECH:
        samples = speak(words)
        at = round(t0 * RATE)
        if at + len(samples) > len(track):
            sys.exit(f"make_sample: '{words}' at {t0} s is longer than the recording")
        track[at:at + len(samples)] += samples
        plain = words.replace(".", "").replace(",", "").split()
        speech.append(dict(text=words, words=plain, t0=t0, t1=round(t0 + len(samples) / RATE, 3)))
    random = np.random.default_rng(seed)
    for t0, t1 in NOISE:
        n = round((t1 - t0) * RATE)
        fade = np.minimum(1, np.minimum(np.arange(n), np.arange(n)[::-1]) / (0.2 * RATE))
        track[round(t0 * RATE):round(t0 * RATE) + n] += (random.normal(0, 0.03, n) * fade).astype(np.float32)
    np.stack([track, track], axis=1).astype("<f4").tofile(path)
    return dict(speech=speech, noise=[dict(t0=a, t1=b) for a, b in NOISE])


def make(folder, seed):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        video, sound = os.path.join(scratch, "video.mp4"), os.path.join(scratch, "sound.f32")
        truth = dict(version=1, file="control-room.mp4", seed=seed, duration=DURATION_S, fps=FPS,
                     size=[WIDTH, HEIGHT], audio=dict(rate=RATE, channels=2),
                     cuts=[scene["start"] for scene in SCENES[1:]])
        truth.update(write_pictures(video))
        truth.update(write_sound(sound, seed))
        truth["questions"] = [dict(t=t, question=q, answer=a) for t, q, a in QUESTIONS]
        # Both files appear whole or not at all: written beside, then renamed.
        part = os.path.join(folder, "control-room.part.mp4")
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", video, "-f", "f32le", "-ar", str(RATE), "-ac",
                        "2", "-i", sound, "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac", "-b:a", "128k",
                        "-flags", "+bitexact", "-fflags", "+bitexact", "-map_metadata", "-1", "-movflags",
                        "+faststart", part], check=True)
        text = json.dumps(truth, indent=1) + "\n"
        with open(os.path.join(folder, "control-room.truth.part.json"), "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(part, os.path.join(folder, "control-room.mp4"))
        os.replace(out.name, os.path.join(folder, "control-room.truth.json"))


# ---------------------------------------------------------------- check
def check(folder):
    """Faults of the files in `folder`, as sentences; empty when all is well."""
    video, truth = os.path.join(folder, "control-room.mp4"), os.path.join(folder, "control-room.truth.json")
    for path in (video, truth):
        if not os.path.isfile(path):
            return [f"{path} is missing"]
    with open(truth, encoding="utf-8") as text:
        truth = json.load(text)
    probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json",
                            video], stdout=subprocess.PIPE, check=False)
    if probe.returncode != 0:
        return [f"{video} cannot be read by ffprobe"]
    found = json.loads(probe.stdout)
    streams = {s["codec_type"]: s for s in found["streams"]}
    v, a = streams.get("video", {}), streams.get("audio", {})
    want = [("video codec", v.get("codec_name"), "h264"), ("pixel format", v.get("pix_fmt"), "yuv420p"),
            ("size", [v.get("width"), v.get("height")], truth["size"]),
            ("frame rate", v.get("r_frame_rate"), f"{truth['fps']}/1"),
            ("frames", v.get("nb_read_frames"), str(round(truth["duration"] * truth["fps"]))),
            ("audio codec", a.get("codec_name"), "aac"), ("audio rate", a.get("sample_rate"), str(RATE)),
            ("audio channels", a.get("channels"), truth["audio"]["channels"])]
    faults = [f"{name} is {got}, not {wanted}" for name, got, wanted in want if got != wanted]
    if abs(float(found["format"]["duration"]) - truth["duration"]) > 0.1:
        faults.append(f"duration is {found['format']['duration']} s, not {truth['duration']} s")
    for kind in ("texts", "states", "speech", "noise", "unchanged"):
        bad = [d for d in truth[kind] if not 0 <= d["t0"] < d["t1"] <= truth["duration"]]
        faults += [f"{kind}: {d} has no span inside the recording" for d in bad]
    return faults + check_speech_times(video, truth)


def check_speech_times(video, truth):
    """Each announcement must begin in the decoded sound where the truth says, with silence before it."""
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", video, "-vn", "-ac", "1", "-ar", str(RATE), "-f",
                          "f32le", "-"], stdout=subprocess.PIPE, check=True).stdout
    sound, faults = np.abs(np.frombuffer(raw, np.float32)), []
    for said in truth["speech"]:
        begin = round((said["t0"] - 0.3) * RATE)
        loud = np.flatnonzero(sound[begin:begin + RATE] > 0.02)
        heard = (begin + loud[0]) / RATE if len(loud) else -1.0
        if abs(heard - said["t0"]) > 0.05:
            faults.append(f"'{said['text']}' begins at {heard:.3f} s, not {said['t0']} s")
    return faults


def main():
    parser = argparse.ArgumentParser(description="make or check the bundled sample recording")
    parser.add_argument("folder", help="where control-room.mp4 and control-room.truth.json are")
    parser.add_argument("--seed", type=int, default=7, help="of the noise (default 7)")
    parser.add_argument("--check", action="store_true", help="only read the files back and compare")
    options = parser.parse_args()
    if not options.check:
        make(options.folder, options.seed)
    faults = check(options.folder)
    for fault in faults:
        print("make_sample: " + fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
