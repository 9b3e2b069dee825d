"""A running `saccade serve` for tests: started on a free port, ended by SIGTERM, its stderr kept."""
import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

from conftest import SACCADE

STARTS_WITHIN = 60


class Server:
    """One process. `admin` is its admin listener's port."""

    def __init__(self, *args, env=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SACCADE_")}
        environment |= {"OMP_WAIT_POLICY": "passive", "HOME": "/nonexistent"} | (env or {})
        self.process = subprocess.Popen(
            [str(SACCADE), "serve", "--port", "0", "--admin-listen", "127.0.0.1:0",
             "--context-tokens", "2048", *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.log = []
        self._ready = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._ready.wait(STARTS_WITHIN) and self.process.poll() is None, self.log

    def _read(self):
        for raw in self.process.stderr:
            line = raw.decode(errors="replace")
            self.log.append(line)
            match = re.search(r"serving on http://([^:]+):(\d+), admin on http://[^:]+:(\d+)", line)
            if match:
                self.port, self.admin = int(match[2]), int(match[3])
                self._ready.set()
        self._ready.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, headers=None, port=None, timeout=120):
        """(status, headers, decoded body)."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=timeout)
        with contextlib.closing(connection):
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            text = reply.read()
            is_json = "json" in reply.headers.get("Content-Type", "")
            return reply.status, reply.headers, json.loads(text) if is_json else text.decode()

    def chat(self, content, headers=None, **fields):
        body = {"messages": [{"role": "user", "content": content}], "max_tokens": 16, **fields}
        return self.request("POST", "/v1/chat/completions", body, headers)

    def metrics(self):
        """Every sample of /metrics as {"name{labels}": value}."""
        status, _, text = self.request("GET", "/metrics", port=self.admin)
        assert status == 200
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def metric(self, name, default=0.0):
        return self.metrics().get(name, default)

    def raw(self, data, quiet=1.0):
        """Bytes on a socket, and what comes back until it closes or is quiet."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=quiet) as sock:
            sock.sendall(data)
            out = b""
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                while piece := sock.recv(65536):
                    out += piece
            return out

    def memory_kb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def stop(self, wait=35):
        """Exit code after SIGTERM."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(wait)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def data_url(path, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(pathlib.Path(path).read_bytes()).decode()}"


def image(url):
    return {"type": "image_url", "image_url": {"url": url}}


def text(words):
    return {"type": "text", "text": words}


def sse_events(raw):
    """The `data:` payloads of an SSE body, as text."""
    return [line[6:] for line in raw.split("\n") if line.startswith("data: ")]


def until(check, seconds=10, every=0.02):
    """Waits until check() is true; its last value."""
    end = time.monotonic() + seconds
    while not (value := check()) and time.monotonic() < end:
        time.sleep(every)
    return value
