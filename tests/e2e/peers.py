"""The other side of live sources, for tests: senders, web servers and silent hosts on this machine."""
import contextlib
import http.server
import socket
import ssl
import subprocess
import threading


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def certificate(folder, host="localhost"):
    """A self-signed certificate for `host` (and 127.0.0.1 when that is localhost): (cert, key)."""
    names = "DNS:localhost,IP:127.0.0.1" if host == "localhost" else f"DNS:{host}"
    cert, key = folder / f"{host}.pem", folder / f"{host}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    f"/CN={host}", "-addext", f"subjectAltName={names}", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return cert, key


def server_context(cert, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


@contextlib.contextmanager
def sender(*args):
    """ffmpeg as a live sender of a moving picture and a tone; `args` say where to."""
    line = ["ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=10",
            "-re", "-f", "lavfi", "-i", "sine=r=16000", "-c:v", "libx264", "-preset", "ultrafast", "-tune",
            "zerolatency", "-pix_fmt", "yuv420p", "-g", "10", "-c:a", "aac", *map(str, args)]
    process = subprocess.Popen(line)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@contextlib.contextmanager
def web(folder=None, tls=None, handler=None):
    """An http(s) server; gives its address. `handler` answers GET instead of the files of `folder`."""
    def answer(*args):
        return (handler or _Quiet)(*args, **({} if handler else {"directory": str(folder)}))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), answer)
    server.handle_error = lambda *args: None  # a client that leaves is no fault
    if tls:
        server.socket = server_context(*tls).wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http{'s' if tls else ''}://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _pump(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def tls_front(port, tls):
    """TLS in front of a plain server on `port`; gives the port to connect to."""
    listener = socket.create_server(("127.0.0.1", 0))
    context = server_context(*tls)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                with contextlib.suppress(OSError):
                    client = context.wrap_socket(plain, server_side=True)
                    behind = socket.create_connection(("127.0.0.1", port))
                    for pair in ((client, behind), (behind, client)):
                        threading.Thread(target=_pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


@contextlib.contextmanager
def silent_host():
    """Accepts connections and says nothing; gives its port."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


class Motion(http.server.BaseHTTPRequestHandler):
    """Pictures one by one, as a web camera pushes them (multipart/x-mixed-replace), ten a second."""

    pictures = []  # JPEG bytes, set by a subclass

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=cut")
        self.end_headers()
        pause = threading.Event()
        index = 0
        while True:
            picture = self.pictures[index % len(self.pictures)]
            self.wfile.write(b"--cut\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture))
            self.wfile.write(picture + b"\r\n")
            index += 1
            pause.wait(0.1)


class Endless(http.server.BaseHTTPRequestHandler):
    """A picture that never ends."""

    head = b""  # its beginning, set by a subclass

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        self.end_headers()
        self.wfile.write(self.head)
        while True:
            self.wfile.write(bytes(1 << 20))
