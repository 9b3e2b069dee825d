"""Held-out material as files: labelled pictures and clips with planted events, from fixed seeds (numpy and Pillow only).

  python make_eval.py OUT [--per-task 500] [--clips 50] [--speech 10]

  OUT/items.jsonl   {id, task, files, question, answer, truth}: 8 tasks; truth = per picture what is drawn, with boxes
  OUT/clips.jsonl   {id, kind, file, seconds, question, states, events, truth} (see clips.py); with --speech also
                    speech = [{t0, t1, words}], spoken by espeak-ng (left out, and said so, where it is missing)
"""
import argparse, json, os, shutil, subprocess, sys, tempfile, wave
import numpy as np
from PIL import Image
import clips, scenes

SAMPLE_RATE = 16000
SPEECH_LEAD_SECONDS = 0.4  # speech starts this long after the event it speaks of
VOICES = ["en-us", "en-gb", "en-us+f3", "en-gb+m4"]
SENTENCES = {"lamps": "Attention please. An alarm has changed.", "reading": "The reading has changed. Please check the display.",
             "gauge": "Tank level has changed. Operator, please confirm.", "shapes": "Object moved. Keep the area clear.",
             "sign": "The sign has changed. Follow the new sign."}


def write_items(out, per_task):
    os.makedirs(os.path.join(out, "stills"), exist_ok=True)
    with open(os.path.join(out, "items.jsonl"), "w") as f:
        for x in scenes.eval_set(per_task):
            files = []
            for k, im in enumerate(x.pop("images")):
                files.append(f"stills/{x['id']}-{k}.png")
                Image.fromarray(im).save(os.path.join(out, files[-1]))
            f.write(json.dumps(dict(x, files=files)) + "\n")


def speak(words, voice):
    """Samples at 16 kHz."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.wav")
        subprocess.run(["espeak-ng", "-v", voice, "-s", "125", "-g", "4", "-w", path, words], check=True)
        with wave.open(path) as w:
            x, rate = np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float64), w.getframerate()
    loud = np.flatnonzero(np.abs(x) > 200)
    x = x[loud[0]:loud[-1] + 1]
    at = np.arange(int(len(x) * SAMPLE_RATE / rate)) * rate / SAMPLE_RATE
    return np.interp(at, np.arange(len(x)), x).astype(np.int16)


def add_speech(clip, seed):
    """Sound that says something soon after the first event; the last picture stays until it is said."""
    t0 = clip["events"][0]["t"] + SPEECH_LEAD_SECONDS
    words = SENTENCES[clip["kind"]]
    x = speak(words, VOICES[seed % len(VOICES)])
    at = int(t0 * SAMPLE_RATE)
    clip["seconds"] = max(clip["seconds"], -(-(at + len(x)) // SAMPLE_RATE))
    clip["states"][-1]["t1"] = float(clip["seconds"])
    clip["pictures"] += clip["pictures"][-1:] * (clip["seconds"] * clips.FPS - len(clip["pictures"]))
    sound = np.zeros(clip["seconds"] * SAMPLE_RATE, np.int16)
    sound[at:at + len(x)] = x
    clip["speech"] = [dict(t0=round(t0, 2), t1=round(t0 + len(x) / SAMPLE_RATE, 2), words=words)]
    return sound


def write_clips(out, count, speech):
    os.makedirs(os.path.join(out, "clips"), exist_ok=True)
    if speech and not shutil.which("espeak-ng"):
        print("make_eval: espeak-ng is missing, so no clip speaks", file=sys.stderr)
        speech = 0
    with open(os.path.join(out, "clips.jsonl"), "w") as f:
        for i in range(count + speech):
            kind = clips.KINDS[i % len(clips.KINDS)]
            clip = clips.make(kind, i)
            sound = add_speech(clip, i) if i >= count else None
            name = f"clips/{kind}-{i:03d}{'-speech' if i >= count else ''}.avi"
            clips.write_avi(os.path.join(out, name), clip.pop("pictures"), sound)
            f.write(json.dumps(dict(clip, id=name[6:-4], file=name)) + "\n")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--per-task", type=int, default=500)
    ap.add_argument("--clips", type=int, default=50)
    ap.add_argument("--speech", type=int, default=10)
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    write_items(a.out, a.per_task)
    write_clips(a.out, a.clips, a.speech)


if __name__ == "__main__":
    main()
