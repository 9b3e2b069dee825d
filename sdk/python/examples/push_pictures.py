"""Shows pictures to the server: python push_pictures.py http://127.0.0.1:8770 one.jpg two.jpg ..."""
import pathlib
import sys

from saccade import Event, Saccade

with Saccade(sys.argv[1]).push(prompts=["What do you see?"], senses=["see"]) as push:
    for number, path in enumerate(sys.argv[2:]):
        push.picture(pathlib.Path(path).read_bytes(), capture_us=number * 1_000_000)
    push.end()
    for told in push:
        if isinstance(told, Event) and told.kind == "answer" and told.final:
            print(f"{told.t0:7.2f} s  {told.text}", flush=True)
