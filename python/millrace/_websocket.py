"""A WebSocket client after RFC 6455, without extensions."""

import base64
import hashlib
import http.client
import io
import os
import socket
import struct
import threading
from typing import Callable, Iterable, Optional, Tuple

from ._http import RedirectedError, Target, Transport, failure, to_json
from .errors import CertificateError, MillraceError, WebSocketClosedError

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
# The longest text message that is accepted.
MAX_TEXT = 1 << 20
MAX_FRAME = 1 << 40


def mask(key: bytes, data: bytes) -> bytes:
    """The data with the repeated key applied. Large integers do it at once."""
    size = len(data)
    repeated = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(data, "little") ^ int.from_bytes(repeated, "little")).to_bytes(size, "little")


class NotWebSocketError(MillraceError):
    """What answers at the address does not speak WebSocket, for example a proxy."""


class WebSocket:
    """A connection. One thread receives; any number of threads send.

    ``silence``: the connection counts as broken if nothing has arrived for so many seconds.
    """

    def __init__(self, transport: Transport, path: str, silence: float) -> None:
        """Connects. Raises a ServerError if the server answers otherwise than with a switch to WebSocket, OSError if it
        cannot be reached."""
        target = transport.target
        try:
            self._line = transport.connect(target)
        except (OSError, CertificateError):
            transport.leave(target)
            raise
        self._socket = self._line.socket
        self._frame_lock = threading.Lock()
        self._message_lock = threading.Lock()
        self._closing = False
        try:
            self._input = io.BufferedReader(self._line, 64 * 1024)
            self._handshake(transport, target, path)
            self._socket.settimeout(silence)
        except BaseException:
            self._line.close()
            raise

    def _handshake(self, transport: Transport, target: Target, path: str) -> None:
        key = base64.b64encode(os.urandom(16))
        head = [
            f"GET {target.prefix}{path} HTTP/1.1",
            f"Host: {target.host_header}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: " + key.decode(),
        ]
        head += [f"{name}: {value}" for name, value in transport.headers.items()]
        self._line.sendall(("\r\n".join(head) + "\r\n\r\n").encode("ascii"))
        line = self._input.readline(4096).decode("latin-1")
        words = line.split(" ", 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.1") or not words[1].isdigit():
            raise OSError(f"the server did not answer the handshake: {line.strip() or 'it closed the connection'}")
        headers = http.client.parse_headers(self._input)
        status = int(words[1])
        if status == 426:
            raise NotWebSocketError("the server did not see the headers of a WebSocket")
        if status == 307:
            transport.follow(target, headers.get("Location"), path)
            raise RedirectedError(f"{target.address} is a standby")
        if status != 101:
            transport.leave(target)
            size = headers.get("Content-Length", "")
            raise failure(status, self._input.read(min(int(size), 65536)) if size.isdigit() else b"")
        accept = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
        if (
            headers.get("Upgrade", "").lower() != "websocket"
            or "upgrade" not in headers.get("Connection", "").lower()
            or headers.get("Sec-WebSocket-Accept", "") != accept
            or "Sec-WebSocket-Extensions" in headers
        ):
            raise NotWebSocketError("the answer to the handshake is not that of a WebSocket server")

    # Sending

    def _send_frame(self, opcode: int, data: bytes, last: bool = True) -> None:
        key = os.urandom(4)
        size = len(data)
        first = (0x80 if last else 0) | opcode
        if size < 126:
            head = struct.pack("!BB", first, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", first, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", first, 0x80 | 127, size)
        with self._frame_lock:
            if self._closing and opcode != CLOSE:
                raise WebSocketClosedError(1006, "the connection is closed")
            self._line.sendall(head + key + mask(key, data))

    def send_json(self, value: object) -> None:
        """Sends a text message."""
        with self._message_lock:
            self._send_frame(TEXT, to_json(value))

    def ping(self) -> None:
        """Asks for a sign of life."""
        self._send_frame(PING, b"")

    def send_announced(self, announcement: object, parts: Iterable[bytes]) -> None:
        """Sends a text message and directly after it a binary message, which is given in parts."""
        with self._message_lock:
            self._send_frame(TEXT, to_json(announcement))
            opcode = BINARY
            held = b""
            for part in parts:
                if held:
                    self._send_frame(opcode, held, last=False)
                    opcode = CONTINUATION
                held = part
            self._send_frame(opcode, held)

    def close(self, code: int, reason: str) -> None:
        """Says that the connection ends. ``receive`` then raises once the server has confirmed it."""
        with self._frame_lock:
            if self._closing:
                return
            self._closing = True
        try:
            self._send_frame(CLOSE, struct.pack("!H", code) + reason.encode()[:120])
        except OSError:
            self.cut()

    def cut(self) -> None:
        """Ends the connection without a word, and wakes the thread that receives."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def release(self) -> None:
        """Frees the socket. Nothing may be received or sent any more."""
        self.cut()
        self._input.close()

    # Receiving

    def _exactly(self, size: int) -> bytes:
        data = self._input.read(size)
        if len(data) != size:
            raise WebSocketClosedError(1006, "the connection broke")
        return data

    def _frame(self) -> Tuple[int, bool, int]:
        first, second = self._exactly(2)
        size = second & 0x7F
        if first & 0x70 or second & 0x80:
            raise WebSocketClosedError(1002, "the server sent a frame of another form")
        if size == 126:
            (size,) = struct.unpack("!H", self._exactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self._exactly(8))
        opcode = first & 0x0F
        if size > MAX_FRAME or (opcode >= CLOSE and (size > 125 or not first & 0x80)):
            raise WebSocketClosedError(1002, "the server sent a frame of another form")
        return opcode, bool(first & 0x80), size

    def receive(self, binary: Callable[[bytes, bool], None]) -> Optional[str]:
        """Waits for the next message. Returns a text; passes a binary message to the function in pieces, of which the
        last one has True, and then returns None. Raises WebSocketClosedError when the connection has ended."""
        try:
            return self._receive(binary)
        except socket.timeout as e:
            raise WebSocketClosedError(1006, "the server has been silent for too long") from e
        except (OSError, ValueError) as e:
            raise WebSocketClosedError(1006, f"the connection broke: {e}") from e

    def _receive(self, binary: Callable[[bytes, bool], None]) -> Optional[str]:
        kind = -1
        text = bytearray()
        while True:
            opcode, last, size = self._frame()
            if opcode >= CLOSE:
                self._control(opcode, self._exactly(size))
                continue
            if (opcode == CONTINUATION) != (kind >= 0) or opcode > BINARY:
                raise WebSocketClosedError(1002, "the server sent a frame out of place")
            kind = opcode if kind < 0 else kind
            if kind == TEXT:
                if len(text) + size > MAX_TEXT:
                    raise WebSocketClosedError(1009, "the server sent a message that is too long")
                text += self._exactly(size)
                if last:
                    return text.decode("utf-8")
                continue
            while size > 256 * 1024:
                binary(self._exactly(256 * 1024), False)
                size -= 256 * 1024
            binary(self._exactly(size), last)
            if last:
                return None

    def _control(self, opcode: int, data: bytes) -> None:
        if opcode == PING:
            self._send_frame_quietly(PONG, data)
        elif opcode == CLOSE:
            code = struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005
            with self._frame_lock:
                confirmed, self._closing = self._closing, True
            if not confirmed:
                self._send_frame_quietly(CLOSE, data[:2])
            raise WebSocketClosedError(code, data[2:].decode("utf-8", "replace"))

    def _send_frame_quietly(self, opcode: int, data: bytes) -> None:
        try:
            self._send_frame(opcode, data)
        except (OSError, WebSocketClosedError):
            # The thread that receives learns of it by the end of the connection.
            pass
