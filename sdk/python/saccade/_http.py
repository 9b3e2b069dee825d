"""Requests to the server over a connection of their own each. Threads: any."""
from __future__ import annotations

import http.client
import json
import ssl
import urllib.parse
from typing import Any, Iterator

from ._model import SaccadeError


class Http:
    def __init__(self, base_url: str, api_key: str | None, timeout_s: float):
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url is {base_url!r}; it must be http://HOST:PORT or https://HOST:PORT")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self.api_key, self._timeout_s = api_key, timeout_s
        self.socket_url = f"{'wss' if self._secure else 'ws'}://{parts.netloc}"

    def _open(self, method: str, path: str, body: Any) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        if self._secure:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout_s, context=ssl.create_default_context())
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = connection.getresponse()
        if reply.status >= 400:
            raise self._error(reply)
        return connection, reply

    @staticmethod
    def _error(reply: http.client.HTTPResponse) -> SaccadeError:
        text = reply.read().decode(errors="replace")
        retry = reply.headers.get("Retry-After", "")
        try:
            error = json.loads(text)["error"]
        except (ValueError, KeyError, TypeError):
            return SaccadeError(reply.status, text[:500])
        return SaccadeError(reply.status, error.get("message", ""), error.get("code") or "", error.get("param"),
                            int(retry) if retry.isdigit() else None)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        connection, reply = self._open(method, path, body)
        try:
            data = reply.read()
        finally:
            connection.close()
        return json.loads(data) if "json" in reply.headers.get("Content-Type", "") else data

    def lines(self, method: str, path: str, body: Any) -> Iterator[str]:
        """The data of server-sent events as they come."""
        connection, reply = self._open(method, path, body)
        try:
            for line in reply:
                if line.startswith(b"data: "):
                    yield line[6:].decode().rstrip("\n")
        finally:
            connection.close()
