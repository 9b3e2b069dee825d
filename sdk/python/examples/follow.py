"""Follows a source until it ends: python follow.py http://127.0.0.1:8770 rtsp://camera/stream "Is the door open?" """
import sys

from saccade import Saccade

server, source, question = sys.argv[1:4]
stream = Saccade(server).create_stream(source, prompts=[question], realtime=source.startswith("file:") or None)
for event in stream.events():
    if event.kind in ("answer", "text", "speech", "alert") and event.final:
        print(f"{event.t0 or 0:7.2f} s  {event.kind:7}{event.text}", flush=True)
