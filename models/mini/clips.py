"""Short seeded clips at 10 pictures a second with planted events, and a writer for them (Motion JPEG and PCM in AVI).

A clip is one panel whose state changes at known times: lamps, a reading, a gauge, shapes, a sign. `make(kind, seed)` gives

  pictures  list of uint8 [192,192,3]
  question  the standing question
  states    [{t0, t1, answer}]: what is right from t0 to t1 (seconds, t1 excluded)
  events    [{t, what, box}]: what changes at t (box in pixels)
  truth     per state: what is drawn and where (see scenes.Scene)
"""
import io, random, struct
import numpy as np
from PIL import Image
import scenes
from scenes import CELLS, COLORS, DIRECTIONS_FROM, Canvas

FPS = 10
SECONDS_MIN, SECONDS_MAX = 5, 8  # of a clip
GAP_SECONDS = 1.2                # at least this long between two events
KINDS = ["lamps", "reading", "gauge", "shapes", "sign"]


def event_times(r, seconds):
    """Two or three moments on the picture grid, apart from each other and from both ends."""
    while True:
        t = sorted(round(r.uniform(GAP_SECONDS, seconds - GAP_SECONDS), 1) for _ in range(r.choice([2, 3])))
        if all(b - a >= GAP_SECONDS for a, b in zip(t, t[1:])):
            return t


def lamps(r, n):
    cells = sorted(r.sample(range(9), r.randint(2, 5)))
    cols = [r.choice(["red", "green", "yellow", "blue"]) for _ in cells]
    cols[r.randrange(len(cols))] = "red"
    lit = [[False] * len(cells)]
    for _ in range(n):
        now = list(lit[-1])
        i = r.randrange(len(cells))
        alarms = [j for j, on in enumerate(now) if on and cols[j] in ("red", "yellow") and j != i]
        if len(alarms) >= 2 and not now[i]:
            i = alarms[0]
        now[i] = not now[i]
        lit.append(now)
    rad, xy = r.uniform(12, 19), [scenes.cell_xy(r, k, 6) for k in cells]

    def draw(c, i):
        for p, col, on in zip(xy, cols, lit[i]):
            scenes.draw_lamp(c, *p, rad, col, on)

    def change(i):
        j = next(j for j, (a, b) in enumerate(zip(lit[i - 1], lit[i])) if a != b)
        return f"{cols[j]} lamp at the {CELLS[cells[j]]} turns {'on' if lit[i][j] else 'off'}", j
    answers = [scenes.alarm_answer(list(zip(cells, cols, now))) for now in lit]
    return "Is any alarm lit?", answers, draw, change


def reading(r, n):
    names = r.sample(scenes.LABELS, 2)
    size = r.choice([2, 3, 4])
    number = lambda: "".join(r.choice("123456789") for _ in range(size))
    values = [number()]
    while len(values) <= n:
        v = number()
        if v != values[-1]:
            values.append(v)
    other = number()
    x, plate, ink = 32 * r.randint(0, 6 - size), scenes.dark(r), r.choice(scenes.LIGHT_INKS)
    font = r.choice(scenes.GRID_FONTS)

    def draw(c, i):
        for name, v, y in ((names[0], values[i], 0), (names[1], other, 96)):
            c.grid_text(min(x, 192 - 16 * len(name)), y, name, font, (16, 16), ink, plate, 1)
            c.grid_text(x, y + 16, v, font, (32, 32), ink, plate, 1)
    return f"What does {names[0]} read?", values, draw, lambda i: (f"{names[0]} changes from {values[i - 1]} to {values[i]}", 1)


def gauge(r, n):
    level = [r.randint(0, 10)]
    for _ in range(n):
        level.append(r.choice([v for v in range(11) if abs(v - level[-1]) >= 2]))
    x, y, w, h = r.uniform(40, 110), r.uniform(10, 30), r.uniform(25, 45), r.uniform(120, 155)
    col = r.choice(["red", "green", "blue", "yellow"])

    def draw(c, i):
        scenes.draw_bar(c, (x, y, x + w, y + h), True, level[i] / 10, col)
    return ("What is the level?", [f"{v * 10}%" for v in level], draw,
            lambda i: (f"the level changes from {level[i - 1] * 10}% to {level[i] * 10}%", 0))


def shapes(r, n):
    """One shape wanders, another one stands."""
    stand, here = r.sample(range(9), 2)
    kinds, cols = r.sample(scenes.SHAPES, 2), r.sample(["red", "green", "blue", "orange", "purple"], 2)
    way = [here]
    while len(way) <= n:
        way.append(r.choice([k for k, _ in DIRECTIONS_FROM[way[-1]] if k != stand]))
    rad, off, at = r.uniform(15, 23), (r.uniform(-7, 7), r.uniform(-7, 7)), scenes.cell_xy(r, stand)

    def draw(c, i):
        k = way[i]
        scenes.draw_shape(c, kinds[0], cols[0], 32 + 64 * (k % 3) + off[0], 32 + 64 * (k // 3) + off[1], rad)
        scenes.draw_shape(c, kinds[1], cols[1], *at, rad)
    return (f"Where is the {cols[0]} {kinds[0]}?", [CELLS[k] for k in way], draw,
            lambda i: (f"the {cols[0]} {kinds[0]} moved {dict(DIRECTIONS_FROM[way[i - 1]])[way[i]]}", 0))


def sign(r, n):
    words = r.sample([w for w in scenes.WORDS if len(w) <= 5], n + 1)
    col = r.choice(["red", "green", "blue", "black"])
    font, y = r.choice(scenes.GRID_FONTS), 32 * r.randint(0, 5)
    bg = tuple(int(v * 0.75) for v in COLORS[col])

    def draw(c, i):
        c.rect(0, y - 3, 163, y + 35, bg)
        c.grid_text(0, y, words[i], font, (32, 32), (250, 250, 250))
    return "Read the sign.", words, draw, lambda i: (f"the sign changes from {words[i - 1]} to {words[i]}", 0)


def make(kind, seed):
    r = random.Random(f"clip-{kind}-{seed}")
    seconds = r.randint(SECONDS_MIN, SECONDS_MAX)
    times = event_times(r, seconds)
    question, answers, draw, change = globals()[kind](r, len(times))
    bg = r.choice([(24, 26, 30), (40, 44, 52), (200, 204, 210), (90, 96, 104)])
    fx = dict(scenes.fx_state(r), blur=0, jpeg=0, noise=r.choice([0, 0, 2, 4]))
    starts = [0.0] + times
    stills, truth, events = [], [], []
    for i in range(len(starts)):
        c = Canvas(random.Random(seed), bg=bg, bg2=bg, ss=1)  # the same jitter in every state
        draw(c, i)
        stills.append(c); truth.append(c.truth)
        if i:
            what, part = change(i)
            events.append(dict(t=starts[i], what=what, box=c.truth[part]["box"]))
    pictures = []
    for k in range(seconds * FPS):
        i = max(i for i, t in enumerate(starts) if round(t * FPS) <= k)
        state = dict(fx, nx=r.randint(0, 60), ny=r.randint(0, 60))
        pictures.append(stills[i].finish(r, state))
    states = [dict(t0=a, t1=b, answer=x) for a, b, x in zip(starts, times + [float(seconds)], answers)]
    return dict(kind=kind, seconds=seconds, pictures=pictures, question=question, states=states, events=events, truth=truth)


# ------------------------------------------------------------------ files
def _chunk(tag, data):
    return tag + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _list(tag, *parts):
    return _chunk(b"LIST", tag + b"".join(parts))


def write_avi(path, pictures, sound=None, sample_rate=16000):
    """Motion JPEG (quality 95, no colour subsampling) and optional mono 16-bit sound, interleaved picture by picture."""
    h, w = pictures[0].shape[:2]
    jpegs = []
    for p in pictures:
        b = io.BytesIO()
        Image.fromarray(p).save(b, "JPEG", quality=95, subsampling=0)
        jpegs.append(b.getvalue())
    sound = b"" if sound is None else np.asarray(sound, "<i2").tobytes()
    per = sample_rate // FPS * 2
    head = [_chunk(b"avih", struct.pack("<10I16x", 1_000_000 // FPS, 0, 0, 0x110, len(jpegs), 0, 2 if sound else 1, 1 << 20, w, h)),
            _list(b"strl", _chunk(b"strh", struct.pack("<4s4sIHHIIIIIIII4H", b"vids", b"MJPG", 0, 0, 0, 0, 1, FPS, 0, len(jpegs), 1 << 20, 0, 0,
                                                       0, 0, w, h)),
                  _chunk(b"strf", struct.pack("<IiiHH4sIiiII", 40, w, h, 1, 24, b"MJPG", w * h * 3, 0, 0, 0, 0)))]
    if sound:
        head.append(_list(b"strl", _chunk(b"strh", struct.pack("<4s4sIHHIIIIIIII4H", b"auds", b"\0\0\0\0", 0, 0, 0, 0, 2, sample_rate * 2, 0,
                                                               len(sound) // 2, per, 0, 2, 0, 0, 0, 0)),
                          _chunk(b"strf", struct.pack("<HHIIHHH", 1, 1, sample_rate, sample_rate * 2, 2, 16, 0))))
    body, index, at = [], [], 4
    for i, j in enumerate(jpegs):
        for tag, data in ((b"00dc", j), (b"01wb", sound[i * per:(i + 1) * per])):
            if data:
                index.append(struct.pack("<4sIII", tag, 0x10, at, len(data)))
                body.append(_chunk(tag, data)); at += len(body[-1])
    riff = b"AVI " + _list(b"hdrl", *head) + _list(b"movi", *body) + _chunk(b"idx1", b"".join(index))
    with open(path, "wb") as f:
        f.write(_chunk(b"RIFF", riff))
