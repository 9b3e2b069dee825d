"""A stand-in for a model hub, for tests: two HTTP servers on loopback (the hub, and another host that
serves the bytes), with one repository per kind of fault. Prints "HUB_PORT BLOB_PORT" and ends when its
standard input does.

  acme/tiny-GGUF     works; blobs come by redirect from the other host, which refuses a token
  acme/gated-GGUF    wants the token "hf_secret"
  acme/cut-GGUF      breaks each blob answer off after 100 kB
  acme/norange-GGUF  the same once, and ignores Range
  acme/shift-GGUF    answers a Range with another range
  acme/wrong-GGUF    other bytes than the hash says
  acme/long-GGUF     more bytes than announced
  acme/evil-GGUF     a file name that climbs out of its folder
  acme/loop-GGUF     redirects for ever
  acme/scheme-GGUF   redirects to a file:// address
  acme/busy-GGUF     answers 503 to the first two listings
"""
import hashlib
import json
import random
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CUT = 100_000


def content(name):
    return random.Random(name).randbytes(50_000 if "mmproj" in name else 300_000)


FILES = {name: content(name) for name in ("tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf", "sub/mmproj-tiny-f16.gguf")}
counts = {}
log = []


def first_times(key, times):
    counts[key] = counts.get(key, 0) + 1
    return counts[key] <= times


def listing(repo):
    siblings = [{"rfilename": "README.md", "size": 10, "blobId": "0" * 40}]
    for name, data in FILES.items():
        sha = hashlib.sha256(data).hexdigest()
        siblings.append({"rfilename": name, "size": len(data),
                         "lfs": {"sha256": sha, "size": len(data), "pointerSize": 130}})
    if repo == "acme/evil-GGUF":
        siblings.append({"rfilename": "../../evil-Q4_K_M.gguf", "lfs": {"sha256": "0" * 64, "size": 5}})
    return json.dumps({"id": repo, "sha": COMMIT, "siblings": siblings}).encode()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for key, value in headers:
            self.send_header(key, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/log":
            return self.answer(200, json.dumps(log).encode())
        log.append({"port": self.server.server_port, "path": path, "token": "Authorization" in self.headers,
                    "range": self.headers.get("Range", "")})
        if self.server.server_port == blob_server.server_port:
            return self.blob(path)
        if path.startswith("/api/models/"):
            return self.api("/".join(path.split("/")[3:5]))
        parts = path.split("/")
        self.resolve("/".join(parts[1:3]), "/".join(parts[5:]))

    def api(self, repo):
        if repo == "acme/gated-GGUF" and self.headers.get("Authorization") != "Bearer hf_secret":
            return self.answer(401, b"Invalid username or password.")
        if repo == "acme/busy-GGUF" and first_times(repo, 2):
            return self.answer(503)
        if not repo.startswith("acme/"):
            return self.answer(404)
        self.answer(200, listing(repo), [("Content-Type", "application/json")])

    def resolve(self, repo, name):
        target = f"http://127.0.0.1:{blob_server.server_port}/{repo}/{name}"
        if repo == "acme/loop-GGUF":
            target = self.path
        if repo == "acme/scheme-GGUF":
            target = "file:///etc/hostname"
        self.answer(302, b"redirect body that nobody wants", [("Location", target)])

    def blob(self, path):
        _, org, repo, name = path.split("/", 3)
        if "Authorization" in self.headers:
            return self.answer(400, b"a token leaked to another host")
        data = FILES[name]
        if repo == "wrong-GGUF":
            data = data[:-1] + bytes([data[-1] ^ 1])
        if repo == "long-GGUF":
            data = data + b"x" * 1000
        start = 0
        ranged = self.headers.get("Range", "")
        if ranged and repo != "norange-GGUF":
            start = int(ranged.removeprefix("bytes=").split("-")[0])
            if repo == "shift-GGUF":
                start -= 7
        body = data[start:]
        headers = [("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")] if start else []
        cut = repo in ("cut-GGUF", "shift-GGUF") or (repo == "norange-GGUF" and first_times(path, 1))
        self.answer(206 if start else 200, body[:CUT] if cut else body, headers, len(body))
        if cut:
            self.close_connection = True


hub_server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
blob_server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
for server in (hub_server, blob_server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(hub_server.server_port, blob_server.server_port, flush=True)
sys.stdin.read()
