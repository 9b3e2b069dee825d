"""What the server tells, as typed values. Pure."""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping


class SaccadeError(Exception):
    """The server refused. `status` is HTTP's (0: of a socket), `code` is for programs, `param` the field at fault."""

    def __init__(self, status: int, message: str, code: str = "", param: str | None = None,
                 retry_after_s: int | None = None):
        super().__init__(message)
        self.status, self.message, self.code, self.param = status, message, code, param
        self.retry_after_s = retry_after_s


@dataclasses.dataclass(frozen=True)
class Event:
    """One event of a stream; docs/events.md says what the fields mean. `data` has all of them, as they came."""

    kind: str
    seq: int
    stream: str = ""
    text: str = ""
    final: bool = True
    id: str = ""
    prompt: str = ""
    t0: float | None = None
    t1: float | None = None
    confidence: float | None = None
    frame_age_ms: float | None = None
    yes: bool | None = None
    reason: str = ""
    count: int = 0
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Event:
        known = {f.name for f in dataclasses.fields(cls)} - {"data"}
        return cls(**{key: value for key, value in data.items() if key in known}, data=data)

    @property
    def ends_stream(self) -> bool:
        return self.kind == "status" and self.reason in ("ended", "failed")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a pushed picture: `seen` at media time `t0`, or `drop` with the reason."""

    frame: int
    outcome: str
    n: int = 0
    reason: str = ""
    t0: float | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Outcome:
        return cls(**{f.name: data[f.name] for f in dataclasses.fields(cls) if f.name in data})


@dataclasses.dataclass(frozen=True)
class StreamState:
    """A stream as the server shows it; `data` has everything."""

    id: str
    state: str
    data: Mapping[str, Any] = dataclasses.field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> StreamState:
        return cls(data["id"], data.get("state", ""), data)


def stream_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request: what was not given is left out."""
    return {key: value for key, value in fields.items() if value is not None}
