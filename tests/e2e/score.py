"""Scores an event stream against the sample's truth file. Used by the tests and by bench/quality.py."""
import re


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def span(event):
    return event["t0"], event.get("t1", event["t0"])


def final_tracks(events):
    """The last event of each text track, keyed by id."""
    tracks = {}
    for e in events:
        if e["kind"] == "text":
            tracks[e["id"]] = e
    return list(tracks.values())


def centre(box):
    if len(box) == 4 and not isinstance(box[0], (list, tuple)):
        return box[0] + box[2] / 2, box[1] + box[3] / 2
    return sum(p[0] for p in box) / 4, sum(p[1] for p in box) / 4


def match_texts(events, truth):
    """For each planted text: (text, best track or None). The track must overlap it in time and lie
    at its place; among those the closest reading wins. Overlap in time is at least one frame."""
    frame = 1 / truth["fps"]
    rows = []
    for planted in truth["texts"]:
        x, y, w, h = planted["box"]
        best = None
        for track in final_tracks(events):
            t0, t1 = span(track)
            if min(t1, planted["t1"]) - max(t0, planted["t0"]) < frame * 0.5 or "box" not in track:
                continue
            cx, cy = centre(track["box"])
            if not (x - h <= cx <= x + w + h and y - h <= cy <= y + h + h):
                continue
            distance = edit_distance(planted["text"], track["text"])
            if best is None or distance < best[0]:
                best = (distance, track)
        rows.append((planted, best[1] if best else None))
    return rows


def text_scores(events, truth):
    """Character error rate over all planted texts and the worst errors of start and end in frames."""
    rows = match_texts(events, truth)
    characters = errors = 0
    late_start, late_end, missed = 0.0, 0.0, []
    for planted, track in rows:
        characters += len(planted["text"])
        if track is None:
            errors += len(planted["text"])
            missed.append(planted["text"])
            continue
        errors += edit_distance(planted["text"], track["text"])
        t0, t1 = span(track)
        late_start = max(late_start, abs(t0 - planted["t0"]) * truth["fps"])
        late_end = max(late_end, abs(t1 - planted["t1"]) * truth["fps"])
    return {"cer": errors / max(1, characters), "characters": characters, "texts": len(rows),
            "missed": missed, "start_error_frames_max": late_start, "end_error_frames_max": late_end}


NUMBERS = dict(zip("0123456789", "zero one two three four five six seven eight nine".split()))


def words(text):
    """Lower-case words; a lone digit is its word, since both are right ways to write it down."""
    return [NUMBERS.get(w, w) for w in re.findall(r"[a-z0-9']+", text.lower())]


def nearest(event, planted):
    """The announcement an utterance overlaps most in time; None when it overlaps none."""
    shared = [(min(span(event)[1], p["t1"]) - max(event["t0"], p["t0"]), p) for p in planted]
    most = max(shared, key=lambda pair: pair[0], default=(0, None))
    return most[1] if most[0] > 0 else None


def speech_scores(events, truth):
    """Word error rate, announcements found (at least 3 of 4 words near their time), start errors."""
    finals = [e for e in events if e["kind"] == "speech" and e["final"] and e["text"]]
    found, errors, count, starts, missed = 0, 0, 0, [], []
    used = set()
    for planted in truth["speech"]:
        near = [e for e in finals if nearest(e, truth["speech"]) is planted]
        used |= {id(e) for e in near}
        said, heard = words(planted["text"]), words(" ".join(e["text"] for e in near))
        distance = min(len(said), edit_distance(said, heard))
        errors += distance
        count += len(said)
        if near and distance <= len(said) / 4:
            found += 1
        else:
            missed.append((planted["text"], " ".join(e["text"] for e in near)))
        if near:
            starts.append(abs(min(e["t0"] for e in near) - planted["t0"]) * 1000)
    return {"wer": errors / max(1, count), "found": found, "planted": len(truth["speech"]),
            "missed": missed, "start_error_ms_max": max(starts, default=0.0),
            "invented": [e["text"] for e in finals if id(e) not in used]}
