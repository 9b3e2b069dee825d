"""The client for asyncio: requests run in threads, events come over an asyncio socket."""
from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ._client import _FINAL_CODES, RETRY_S, Saccade, Stream
from ._model import Event, SaccadeError, StreamState
from ._wire import Account, protocols


class AsyncSaccade:
    """As Saccade; its calls are awaited."""

    def __init__(self, base_url: str = "http://127.0.0.1:8770", api_key: str | None = None, timeout_s: float = 60):
        self._sync = Saccade(base_url, api_key, timeout_s)

    async def models(self) -> list[str]:
        return await asyncio.to_thread(self._sync.models)

    async def healthy(self) -> bool:
        return await asyncio.to_thread(self._sync.healthy)

    async def create_stream(self, source: str, **fields: Any) -> AsyncStream:
        return AsyncStream(await asyncio.to_thread(self._sync.create_stream, source, **fields))

    async def streams(self) -> list[StreamState]:
        return await asyncio.to_thread(self._sync.streams)

    def stream(self, id: str) -> AsyncStream:
        return AsyncStream(self._sync.stream(id))


class AsyncStream:
    def __init__(self, stream: Stream):
        self._sync, self.id = stream, stream.id

    async def state(self) -> StreamState:
        return await asyncio.to_thread(self._sync.state)

    async def update(self, **fields: Any) -> StreamState:
        return await asyncio.to_thread(self._sync.update, **fields)

    async def delete(self) -> None:
        await asyncio.to_thread(self._sync.delete)

    async def ask(self, question: str, **sampling: Any) -> str:
        return await asyncio.to_thread(self._sync.ask, question, **sampling)

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """As Stream.events."""
        http, path = self._sync._http, self._sync._path
        account = Account()
        account.last_event = after
        tried = 0
        while True:
            url = f"{http.socket_url}{path}/socket{account.query(push=False)}"
            try:
                async with connect(url, subprotocols=protocols(http.api_key), max_size=None) as socket:
                    tried = 0
                    async for message in socket:
                        told = account.take(message)
                        if isinstance(told, Event):
                            yield told
                            if told.ends_stream:
                                return
            except InvalidStatus as refused:
                text = (refused.response.body or b"").decode(errors="replace")
                raise SaccadeError(refused.response.status_code, text[:500]) from refused
            except ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code in _FINAL_CODES:
                    return
            except OSError:
                if tried >= len(RETRY_S):
                    raise
            await asyncio.sleep(RETRY_S[min(tried, len(RETRY_S) - 1)])
            tried += 1
