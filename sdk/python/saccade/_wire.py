"""The bytes of the socket of a stream and the account of what may be sent. Pure; docs/serve.md has the format."""
from __future__ import annotations

import base64
import io
import json
import struct
import time
from typing import Any

from ._model import Event, Outcome, SaccadeError

PROTOCOL = "saccade.v1"
PAYLOAD_BYTES_MAX = 16 << 20
_HEADER = struct.Struct("<4sBBBBQQIIII")
_ENCODED, _RAW, _SOUND = 1, 2, 3


def protocols(api_key: str | None) -> list[str]:
    if not api_key:
        return [PROTOCOL]
    return [PROTOCOL, "saccade.key." + base64.urlsafe_b64encode(api_key.encode()).decode().rstrip("=")]


def capture_now_us() -> int:
    return time.monotonic_ns() // 1000


def _pack(kind: int, form: int, seq: int, capture_us: int, first: int, second: int, third: int,
          payload: bytes) -> bytes:
    if len(payload) > PAYLOAD_BYTES_MAX:
        raise ValueError(f"a message has {len(payload)} bytes, at most {PAYLOAD_BYTES_MAX} are allowed")
    return _HEADER.pack(b"SACP", 1, kind, form, 0, seq, capture_us, first, second, third, len(payload)) + payload


def pack_picture(picture: Any, seq: int, capture_us: int) -> bytes:
    """JPEG, PNG or WebP bytes; a PIL image (sent as JPEG); an array [height][width][3] of uint8 RGB (sent as it is)."""
    if isinstance(picture, (bytes, bytearray, memoryview)):
        return _pack(_ENCODED, 0, seq, capture_us, 0, 0, 0, bytes(picture))
    if hasattr(picture, "save") and hasattr(picture, "convert"):
        packed = io.BytesIO()
        picture.convert("RGB").save(packed, "JPEG", quality=90)
        return _pack(_ENCODED, 0, seq, capture_us, 0, 0, 0, packed.getvalue())
    shape = getattr(picture, "shape", ())
    if len(shape) != 3 or shape[2] != 3 or str(getattr(picture, "dtype", "")) != "uint8":
        raise TypeError("a picture is bytes, a PIL image or a uint8 array [height][width][3], not "
                        f"{type(picture).__name__} {shape}")
    height, width = int(shape[0]), int(shape[1])
    return _pack(_RAW, 1, seq, capture_us, width, height, 3 * width, picture.tobytes())


def pack_sound(pcm: Any, rate: int, seq: int, capture_us: int) -> tuple[bytes, float]:
    """16-bit mono samples as bytes or an int16 array; also gives their length in milliseconds."""
    if not isinstance(pcm, (bytes, bytearray, memoryview)):
        if str(getattr(pcm, "dtype", "")) != "int16":
            raise TypeError("sound is bytes of 16-bit samples or an int16 array")
        pcm = pcm.tobytes()
    pcm = bytes(pcm)
    return _pack(_SOUND, 1, seq, capture_us, rate, 0, 0, pcm), len(pcm) / 2 / rate * 1000


class Account:
    """Numbers of one pushed stream over all its sockets: what may be sent, what was told last."""

    def __init__(self) -> None:
        self.pictures, self.sound_ms = 0, 0.0
        self.seq = 0
        self.last_event = self.last_outcome = 0

    def connected(self) -> None:
        """A new socket grants anew."""
        self.pictures, self.sound_ms = 0, 0.0

    def next_seq(self) -> int:
        self.seq += 1
        return self.seq

    def query(self, push: bool) -> str:
        parts = [] if push else ["push=false"]
        if self.last_event:
            parts.append(f"last_event_id={self.last_event}")
        if push and self.last_outcome:
            parts.append(f"last_outcome={self.last_outcome}")
        return "?" + "&".join(parts) if parts else ""

    def take(self, message: str | bytes) -> Event | Outcome | None:
        """Nothing for what only concerns the account."""
        data = json.loads(message)
        kind = data.get("kind")
        if kind == "credit":
            self.pictures += data["pictures"]
            self.sound_ms += data["sound_ms"]
            self.seq = max(self.seq, data.get("newest", 0))
            return None
        if kind == "outcome":
            self.last_outcome = data["n"]
            return Outcome.of(data)
        if kind == "error":
            raise SaccadeError(0, data.get("text", ""), data.get("code", ""))
        self.last_event = max(self.last_event, data.get("seq", 0))
        return Event.of(data)
