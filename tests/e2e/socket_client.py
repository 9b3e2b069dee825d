"""A client of /v1/streams/{id}/socket for tests: obeys the credit, keeps what comes."""
import base64
import json
import struct

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

HEADER = struct.Struct("<4sBBBBQQIIII")


def packet(kind, payload, seq, capture_us, form=0, first=0, second=0, third=0, size=None):
    size = len(payload) if size is None else size
    return HEADER.pack(b"SACP", 1, kind, form, 0, seq, capture_us, first, second, third, size) + payload


def picture(payload, seq, capture_us):
    return packet(1, payload, seq, capture_us)


def sound(pcm, seq, capture_us, rate=16_000):
    return packet(3, pcm, seq, capture_us, form=1, first=rate)


def key_protocol(key):
    return "saccade.key." + base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


class Client:
    """One socket. `messages` holds everything that came, in order."""

    def __init__(self, server, stream, query="", **options):
        self.socket = connect(f"ws://127.0.0.1:{server.port}/v1/streams/{stream}/socket{query}",
                              max_size=None, **{"subprotocols": ["saccade.v1"], **options})
        self.messages = []
        self.pictures = self.sound_ms = 0
        self.code = None

    def take(self, timeout):
        """The next message; None when none came in time or the socket has closed."""
        try:
            message = json.loads(self.socket.recv(timeout=timeout))
        except TimeoutError:
            return None
        except ConnectionClosed as closed:
            self.code = closed.rcvd.code if closed.rcvd else -1
            return None
        if message["kind"] == "credit":
            self.pictures += message["pictures"]
            self.sound_ms += message["sound_ms"]
        self.messages.append(message)
        return message

    def until(self, done, seconds=20):
        """Takes until done(message); that message."""
        for _ in range(int(seconds / 0.05)):
            message = self.take(0.05)
            if message and done(message):
                return message
            while message and (message := self.take(0)):
                if done(message):
                    return message
            if self.code is not None:
                break
        return None

    def send_picture(self, payload, seq, capture_us):
        while self.pictures == 0:
            assert self.until(lambda m: m["kind"] == "credit"), "no credit"
        self.pictures -= 1
        self.socket.send(picture(payload, seq, capture_us))

    def send_sound(self, pcm, seq, capture_us, rate=16_000):
        ms = len(pcm) / 2 / rate * 1000
        while self.sound_ms < ms:
            assert self.until(lambda m: m["kind"] == "credit"), "no credit"
        self.sound_ms -= ms
        self.socket.send(sound(pcm, seq, capture_us, rate))

    def send(self, data):
        self.socket.send(data)

    def of(self, kind):
        return [m for m in self.messages if m["kind"] == kind]

    def outcomes(self):
        return {m["frame"]: m.get("reason", "seen") for m in self.of("outcome")}

    def drain(self, seconds=60):
        """Everything until the socket closes."""
        self.until(lambda _: False, seconds)
        return self.messages

    def lose(self):
        """Gone without a word, as a phone in a tunnel."""
        self.socket.socket.close()

    def close(self):
        self.socket.close()
