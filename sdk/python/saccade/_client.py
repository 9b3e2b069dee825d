"""The client: streams, their events, questions about now, pushed pictures and sound."""
from __future__ import annotations

import collections
import json
import time
import urllib.parse
from typing import Any, Iterator, Sequence

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ._http import Http
from ._model import Event, Outcome, SaccadeError, StreamState, stream_fields
from ._wire import Account, capture_now_us, pack_picture, pack_sound, protocols

# Waits before a lost connection is tried again, in seconds; the last one for ever.
RETRY_S = (0.1, 0.5, 1, 2, 5)
# Closed for good: the stream has ended, it was taken over by a newer client, or a rule was broken.
_FINAL_CODES = (1000, 1008, 1009, 4000, 4001)


class Saccade:
    """A server. `base_url` without /v1: http://127.0.0.1:8770."""

    def __init__(self, base_url: str = "http://127.0.0.1:8770", api_key: str | None = None, timeout_s: float = 60):
        self._http = Http(base_url, api_key, timeout_s)

    def models(self) -> list[str]:
        return [model["id"] for model in self._http.call("GET", "/v1/models")["data"]]

    def healthy(self) -> bool:
        try:
            self._http.call("GET", "/health")
        except (SaccadeError, OSError):
            return False
        return True

    def create_stream(self, source: str, *, id: str | None = None, prompts: Sequence[Any] | None = None,
                      alerts: Sequence[Any] | None = None, senses: Sequence[str] | None = None,
                      fps: float | None = None,
                      policy: str | None = None, slo_ms: int | None = None, realtime: bool | None = None,
                      loop: bool | None = None, **more: Any) -> Stream:
        """`source`: an address, file:///PATH below the server's media folder, or "push". A prompt is a text or
        {"id": ..., "text": ...}. Raises SaccadeError."""
        fields = {"source": source, "id": id, "prompts": prompts, "alerts": alerts, "senses": senses, "fps": fps,
                  "policy": policy, "slo_ms": slo_ms, "realtime": realtime, "loop": loop, **more}
        made = self._http.call("POST", "/v1/streams", stream_fields(fields))
        return Stream(self._http, made["id"])

    def streams(self) -> list[StreamState]:
        return [StreamState.of(one) for one in self._http.call("GET", "/v1/streams")["data"]]

    def stream(self, id: str) -> Stream:
        """One that is there already; nothing is asked of the server yet."""
        return Stream(self._http, id)

    def push(self, *, id: str | None = None, **fields: Any) -> Push:
        """Makes a stream whose pictures and sound come from here. Use it in `with`."""
        return self.create_stream("push", id=id, **fields).push()


class Stream:
    def __init__(self, http: Http, id: str):
        self._http, self.id = http, id
        self._path = "/v1/streams/" + urllib.parse.quote(id, safe="")

    def state(self) -> StreamState:
        return StreamState.of(self._http.call("GET", self._path))

    def update(self, **fields: Any) -> StreamState:
        """prompts, alerts, refresh_s, change_threshold, max_new_tokens, policy, slo_ms: from the next picture on."""
        return StreamState.of(self._http.call("PATCH", self._path, stream_fields(fields)))

    def delete(self) -> None:
        self._http.call("DELETE", self._path)

    def picture(self) -> bytes:
        """What was looked at last, as JPEG."""
        return self._http.call("GET", self._path + "/picture")

    def ask(self, question: str, **sampling: Any) -> str:
        """A question about now."""
        reply = self._http.call("POST", self._path + "/ask", {"question": question, **sampling})
        return reply["choices"][0]["message"]["content"]

    def ask_stream(self, question: str, **sampling: Any) -> Iterator[str]:
        """The same, piece by piece."""
        body = {"question": question, "stream": True, **sampling}
        for line in self._http.lines("POST", self._path + "/ask", body):
            if line == "[DONE]":
                return
            chunk = json.loads(line)
            if "error" in chunk:
                error = chunk["error"]
                raise SaccadeError(500, error.get("message", ""), error.get("code") or "", error.get("param"))
            for choice in chunk["choices"]:
                if choice["delta"].get("content"):
                    yield choice["delta"]["content"]

    def events(self, after: int = 0) -> Iterator[Event]:
        """Events behind the one of this number, to the end of the stream. A lost connection is taken up again without
        a gap; what the server no longer has is told by a `drop` event."""
        account = Account()
        account.last_event = after
        link = _Link(self._http, self._path, account, push=False)
        while (told := link.receive(None)) is not None:
            if isinstance(told, Event):
                yield told

    def push(self) -> Push:
        """For a stream made with the source "push"; use it in `with`."""
        return Push(_Link(self._http, self._path, Account(), push=True))


class _Link:
    """A socket that comes back."""

    def __init__(self, http: Http, path: str, account: Account, push: bool):
        self._http, self._path, self.account, self._push = http, path, account, push
        self._socket: ClientConnection | None = None
        self._over = False

    def socket(self) -> ClientConnection:
        for tried in range(10**9):
            if self._socket is not None:
                return self._socket
            url = f"{self._http.socket_url}{self._path}/socket{self.account.query(self._push)}"
            try:
                self.account.connected()
                self._socket = connect(url, subprotocols=protocols(self._http.api_key), max_size=None)
            except InvalidStatus as refused:
                text = (refused.response.body or b"").decode(errors="replace")
                raise SaccadeError(refused.response.status_code, text[:500]) from refused
            except OSError:
                if tried >= len(RETRY_S):
                    raise
                time.sleep(RETRY_S[tried])
        raise AssertionError

    def receive(self, timeout_s: float | None) -> Event | Outcome | None:
        """What comes next. None: the stream has ended, or nothing came in time (then not `over`)."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._over:
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                message = self.socket().recv(timeout=left)
            except TimeoutError:
                return None
            except ConnectionClosed as closed:
                self._socket = None
                code = closed.rcvd.code if closed.rcvd else 0
                self._over = code in _FINAL_CODES
                if code not in (0, 1000, 1001, 1006) and self._over:
                    raise SaccadeError(0, closed.rcvd.reason if closed.rcvd else "", str(code)) from closed
                continue
            told = self.account.take(message)
            if told is not None:
                self._over = isinstance(told, Event) and told.ends_stream
                return told
            if left is not None and left <= 0:
                return None
        return None

    def send(self, data: bytes | str) -> None:
        self.socket().send(data)

    @property
    def over(self) -> bool:
        return self._over

    def close(self) -> None:
        self._over = True
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class Push:
    """Sends pictures and sound of a stream and gives what the server tells. One thread."""

    def __init__(self, link: _Link):
        self._link, self._waiting = link, collections.deque[Event | Outcome]()

    def __enter__(self) -> Push:
        return self

    def __exit__(self, *_: Any) -> None:
        self._link.close()

    def picture(self, picture: Any, capture_us: int | None = None) -> int:
        """Sends one, after waiting for credit; gives its number. `capture_us`: on a clock of yours that never jumps."""
        self._await(lambda account: account.pictures > 0)
        self._link.account.pictures -= 1
        seq = self._link.account.next_seq()
        self._link.send(pack_picture(picture, seq, capture_now_us() if capture_us is None else capture_us))
        return seq

    def sound(self, pcm: Any, rate: int = 16_000, capture_us: int | None = None) -> int:
        """At most a second of it. `capture_us`: of its first sample."""
        account = self._link.account
        data, ms = pack_sound(pcm, rate, account.next_seq(), capture_now_us() if capture_us is None else capture_us)
        self._await(lambda a: a.sound_ms >= ms)
        account.sound_ms -= ms
        self._link.send(data)
        return account.seq

    def end(self) -> None:
        """What was sent is still looked at; read on until the iteration ends."""
        self._link.send('{"type":"end"}')

    def receive(self, timeout_s: float | None = 0) -> Event | Outcome | None:
        """The next thing told, if one comes in time. None too when the stream has ended."""
        return self._waiting.popleft() if self._waiting else self._link.receive(timeout_s)

    def __iter__(self) -> Iterator[Event | Outcome]:
        while (told := self.receive(None)) is not None:
            yield told

    def _await(self, granted: Any) -> None:
        while not granted(self._link.account):
            told = self._link.receive(0.05)
            if told is not None:
                self._waiting.append(told)
            elif self._link.over:
                raise SaccadeError(0, "the stream has ended", "ended")
