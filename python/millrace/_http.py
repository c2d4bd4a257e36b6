"""Requests over HTTP/1.1 with kept connections, and repetition of those that may be repeated."""

import http.client
import io
import json
import os
import random
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, Generator, Iterable, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import (
    AuthenticationError,
    BadRequestError,
    CertificateError,
    ConflictError,
    ConnectionFailedError,
    MillraceError,
    NotFoundError,
    OutcomeUnknownError,
    ServerError,
    UnavailableError,
)

Body = Union[bytes, Callable[[], Iterable[bytes]], None]

# The events of a stream as (id, name, data); close() ends the stream.
Events = Generator[Tuple[Optional[str], Optional[str], Any], None, None]

CHUNK = 256 * 1024


def part(name: Union[str, int]) -> str:
    """A name as one part of a path."""
    return quote(str(name), safe="")


def query(path: str, **parameters: Any) -> str:
    """A path with those parameters that are not None. A list gives its parameter several times."""
    given = []
    for key, value in parameters.items():
        if value is None:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            given.append((key, str(one).lower() if isinstance(one, bool) else str(one)))
    return path + ("?" + urlencode(given) if given else "")


def to_json(value: Any) -> bytes:
    """A value as JSON in UTF-8. NaN and infinite numbers are refused; integers keep all digits."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def read_secret(value: Optional[str], file: Union[str, "os.PathLike[str]", None], variable: str) -> Optional[str]:
    """A secret: given, or the content of a file, or the value of an environment variable."""
    if value is not None and file is not None:
        raise ValueError("a secret is given as a value or as a file, not both")
    if value is None and file is not None:
        value = Path(file).read_text(encoding="utf-8").strip()
        if not value:
            raise ValueError(f"the file {os.fspath(file)} is empty")
    if value is None:
        value = os.environ.get(variable) or None
    if value is not None and not all(" " < sign <= "~" for sign in value):
        raise ValueError("a secret has visible ASCII characters only")
    return value


def trusted(certificates: Union[str, "os.PathLike[str]", None]) -> Optional[ssl.SSLContext]:
    """What to trust over https: a file of certificates, given or named by MILLRACE_CERTIFICATES; without one the system's."""
    file = os.environ.get("MILLRACE_CERTIFICATES") or None if certificates is None else os.fspath(certificates)
    if file is None:
        return None
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as e:
        raise ValueError(f"the certificates in {file} cannot be read: {e.strerror or e}") from e


MOST_STALE = 60
"""The greatest age of an answer, in seconds, that servers accept."""

POSITION = "Millrace-Position"


class Backoff:
    """Pauses that grow by a factor up to a longest one, each shortened at random by up to a half."""

    def __init__(self, first: float, longest: float, growth: float = 2) -> None:
        self._first = first
        self._longest = longest
        self._growth = growth
        self._next = first

    def next(self) -> float:
        pause = self._next * random.uniform(0.5, 1)
        self._next = min(self._next * self._growth, self._longest)
        return pause

    def reset(self) -> None:
        self._next = self._first


def failure(status: int, content: bytes) -> ServerError:
    """The exception for a refusal, with the message of the server."""
    text = content.decode("utf-8", "replace")
    body: Any = text
    message = text.strip()
    try:
        body = json.loads(text)
    except ValueError:
        pass
    if isinstance(body, dict):
        said = body.get("error") or body.get("errors") or body.get("detail") or body.get("title")
        message = "; ".join(map(str, said)) if isinstance(said, list) else str(said or text)
        if "error" in body:
            message += "".join(
                f" ({name}: {value})"
                for name, value in body.items()
                if not name.startswith("error") and isinstance(value, (str, int, float)) and value != said
            )
    message = message or http.client.responses.get(status, "an error without a message")
    kind = BadRequestError
    kinds = {401: AuthenticationError, 403: AuthenticationError, 404: NotFoundError, 503: UnavailableError}
    conflicts = {409: ConflictError, 410: ConflictError, 412: ConflictError}
    if status in kinds:
        return kinds[status](status, message, body)
    if status in conflicts:
        return conflicts[status](status, message, body)
    if status < 500:
        return kind(status, message, body)
    return ServerError(status, message, body)


class Response:
    """The answer to a request whose body has not been read yet."""

    def __init__(
        self,
        transport: "Transport",
        target: "Target",
        connection: http.client.HTTPConnection,
        raw: http.client.HTTPResponse,
    ) -> None:
        self._transport = transport
        self._target = target
        self._connection = connection
        self._raw = raw
        self.status = raw.status

    def header(self, name: str) -> Optional[str]:
        return self._raw.getheader(name)

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes, or all; b"" at the end. A body that breaks off is a ConnectionFailedError."""
        try:
            content = self._raw.read() if size < 0 else self._raw.read(size)
        except http.client.HTTPException as e:
            raise ConnectionFailedError(f"the answer of {self._target.address} broke off: {e!r}") from e
        except OSError as e:
            raise ConnectionFailedError(f"the answer of {self._target.address} broke off: {e}") from e
        if size > 0 and not content and self._raw.length:
            raise ConnectionFailedError(f"the answer of {self._target.address} broke off")
        return content

    def lines(self) -> Iterator[bytes]:
        """The lines of a stream as they arrive."""
        while True:
            try:
                line = self._raw.readline()
            except (OSError, http.client.HTTPException) as e:
                raise ConnectionFailedError(f"the answer of {self._target.address} broke off: {e}") from e
            if not line:
                return
            yield line

    def close(self) -> None:
        """Gives the connection back if the body has been read, and closes it otherwise."""
        if self._raw.isclosed() and not self._raw.will_close:
            self._transport.keep(self._target, self._connection)
        else:
            self._connection.close()
        self._raw.close()

    def __enter__(self) -> "Response":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Target:
    """One address of a server."""

    def __init__(self, address: str, context: Optional[ssl.SSLContext], configured: bool) -> None:
        split = urlsplit(address)
        if split.scheme not in ("http", "https") or not split.hostname or split.query or split.fragment:
            raise ValueError(f'the address of a server is like "http://127.0.0.1:8048", not "{address}"')
        if split.username or split.password:
            raise ValueError("the address of a server has no user and password; give a token instead")
        self.address = address.rstrip("/")
        self.host = split.hostname
        self.port = split.port or (443 if split.scheme == "https" else 80)
        self.host_header = split.netloc
        self.prefix = split.path.rstrip("/")
        self.configured = configured
        self.context: Optional[ssl.SSLContext] = None
        if split.scheme == "https":
            self.context = context or ssl.create_default_context()


class RedirectedError(ConnectionFailedError):
    """The server is a standby and has done nothing; the next request goes to the leader.

    ``target`` is set if that is the leader of a shard, whom only this request is for.
    """

    target: Optional["Target"] = None


class Transport:
    """Connections to a server. Safe for use by several threads.

    Several addresses, separated by commas, are those of servers that share a store: a standby names the leader, and
    after a failure the next one is asked. Credentials go only to these addresses and to a leader that one of them names.
    """

    def __init__(
        self,
        address: str,
        token: Optional[str],
        api_key: Optional[str],
        timeout: float,
        retry_for: float,
        context: Optional[ssl.SSLContext],
        stale: Optional[float] = None,
    ) -> None:
        if timeout <= 0 or retry_for < 0:
            raise ValueError("timeout is above 0 and retry_for at least 0, in seconds")
        if stale is not None and not 0 <= stale <= MOST_STALE:
            raise ValueError(f"stale is from 0 to {MOST_STALE} seconds, not {stale}")
        self._context = context
        self._targets = [Target(each.strip(), context, True) for each in address.split(",")]
        self._current = self._targets[0]
        self._turn = 0
        self._stale = stale
        # How many answers had no position, and how many of them the last position covers.
        self._missed = self._caught_up = 0
        self._reads = 0
        self._position: Optional[str] = None
        self.address = ",".join(target.address for target in self._targets)
        self.timeout = timeout
        self.retry_for = retry_for
        self.headers: Dict[str, str] = {}
        if token is not None:
            self.headers["Authorization"] = "Bearer " + token
        if api_key is not None:
            self.headers["X-API-KEY"] = api_key
        self._idle: List[Tuple[float, Target, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()
        self._closed = False

    @property
    def target(self) -> Target:
        """The address that the next request goes to."""
        return self._current

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, _, connection in idle:
            connection.close()

    def keep(self, target: Target, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < 16 and (target.configured or target is self._current):
                self._idle.append((time.monotonic(), target, connection))
                return
        connection.close()

    def _take(self, target: Target) -> Tuple[http.client.HTTPConnection, bool]:
        """A connection, and whether it was used before, so that the server may have closed it."""
        with self._lock:
            # The server closes a silent connection after minutes; a younger one is most likely open.
            now = time.monotonic()
            old = [each for each in self._idle if now - each[0] >= 60]
            self._idle = [each for each in self._idle if now - each[0] < 60]
            found = next((each for each in reversed(self._idle) if each[1] is target), None)
            if found is not None:
                self._idle.remove(found)
        for _, _, connection in old:
            connection.close()
        return (self._open(target), False) if found is None else (found[2], True)

    def _open(self, target: Target) -> http.client.HTTPConnection:
        if target.context is not None:
            return http.client.HTTPSConnection(
                target.host, target.port, timeout=self.timeout, context=target.context
            )
        return http.client.HTTPConnection(target.host, target.port, timeout=self.timeout)

    def _anyone(self) -> Target:
        """The next of the configured addresses in turn, for a read that a standby may answer."""
        with self._lock:
            self._reads += 1
            return self._targets[self._reads % len(self._targets)]

    def note(self, position: Optional[str]) -> None:
        """Notes the position of an answer, unless a later one of the same history is known."""
        if self._stale is None or not position:
            return
        with self._lock:
            known = self._position
            if known is not None:
                (its, number), (history, given) = known.rsplit("-", 1), position.rsplit("-", 1)
                if its == history and int(number) > int(given):
                    return
            self._position = position

    def _miss(self) -> None:
        """Notes that there was an answer without a position."""
        with self._lock:
            self._missed += 1

    def leave(self, target: Target) -> None:
        """Asks the next address, after a failure of this one."""
        with self._lock:
            if target is self._current:
                # In turns, whomever they name: a standby may name one that does not answer any more.
                self._turn = (self._turn + 1) % len(self._targets)
                self._current = self._targets[self._turn]

    def follow(self, target: Target, location: Optional[str], path: str, keep: bool = True) -> "Target":
        """The leader that a standby names with a location, which ends with the path of the request.

        Asks it from now on, if it is to be kept.
        """
        found: Optional[Target] = None
        if location and location.endswith(path):
            address = location[: -len(path)]
            found = next((each for each in self._targets if each.address == address), None)
            # Not from one that was named to a third one, and not out of an encrypted connection.
            if found is None and target.configured and not (target.context and not address.startswith("https://")):
                found = Target(address, self._context, False)
        if found is None:
            self.leave(target)
            raise ConnectionFailedError(f"{target.address} redirects to {location}")
        if keep:
            with self._lock:
                self._current = found
        return found

    def connect(self, target: Target) -> "Line":
        """A new connection for reading and writing by two threads, encrypted if the address says so."""
        plain = socket.create_connection((target.host, target.port), self.timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return Line(plain, target.context, target.host)
        except ssl.SSLCertVerificationError as e:
            plain.close()
            raise CertificateError(target.address, e.verify_message) from e
        except BaseException:
            plain.close()
            raise

    def open(
        self,
        method: str,
        path: str,
        body: Body = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        repeatable: bool = True,
        silence: Optional[float] = None,
        retry_for: Optional[float] = None,
        opened: Optional[Callable[[socket.socket], None]] = None,
        anywhere: bool = False,
    ) -> Response:
        """Sends a request and returns the answer, which is a success.

        A request that is ``repeatable`` is sent again for up to ``retry_for`` seconds while the server cannot be reached
        or is not ready. Any other one is sent again only if it has not been sent. ``silence``: for how long the server
        may be silent, if that is more than the timeout. ``opened`` is told the socket before the request is sent.
        ``anywhere``: all addresses are asked in turn until one of them names the leader.
        """
        try:
            answer = self._send(method, path, body, headers, repeatable, silence, retry_for, opened, anywhere)
        except MillraceError:
            if method != "GET":
                # It may have changed something.
                self._miss()
            raise
        position = answer.header(POSITION)
        if position:
            self.note(position)
        elif not path.startswith("/store/"):
            # Answers of the store have it in their body.
            self._miss()
        return answer

    def _send(
        self,
        method: str,
        path: str,
        body: Body,
        headers: Optional[Mapping[str, str]],
        repeatable: bool,
        silence: Optional[float],
        retry_for: Optional[float],
        opened: Optional[Callable[[socket.socket], None]],
        anywhere: bool,
    ) -> Response:
        end = time.monotonic() + (self.retry_for if retry_for is None else retry_for)
        # A small growth, and a low limit while another server may soon lead, so that little is added to a takeover.
        backoff = Backoff(0.02, 0.2 if len(self._targets) > 1 else 1, growth=1.25)
        redirects = 0
        named: Optional[Target] = None
        while True:
            problem: MillraceError
            cause: Exception
            if named is not None:
                target, named = named, None
            else:
                target = self._anyone() if anywhere and redirects == 0 else self.target
            try:
                return self._once(target, method, path, body, headers, silence, repeatable, opened)
            except RedirectedError as e:
                redirects += 1
                if redirects % 4 != 0:
                    named = e.target
                    continue
                self.leave(target)
                problem, cause = e, e
            except (ConnectionFailedError, UnavailableError) as e:
                self.leave(target)
                if isinstance(e, UnavailableError) and not repeatable:
                    raise
                problem, cause = e, e
            except ServerError as e:
                # 504: the outcome is unknown.
                if e.status != 504:
                    raise
                if not repeatable:
                    raise OutcomeUnknownError(str(e)) from e
                problem, cause = e, e
            except OutcomeUnknownError as e:
                self.leave(target)
                if not repeatable:
                    raise
                problem, cause = e, e
            pause = backoff.next()
            if time.monotonic() + pause >= end:
                raise problem from cause.__cause__
            time.sleep(pause)

    def _once(
        self,
        target: Target,
        method: str,
        path: str,
        body: Body,
        headers: Optional[Mapping[str, str]],
        silence: Optional[float],
        repeatable: bool,
        opened: Optional[Callable[[socket.socket], None]],
    ) -> Response:
        # A connection that was used before may have been closed meanwhile; what cannot be repeated gets a new one.
        connection, used = self._take(target) if repeatable else (self._open(target), False)
        while True:
            try:
                if connection.sock is None:
                    connection.connect()
            except ssl.SSLCertVerificationError as e:
                connection.close()
                raise CertificateError(target.address, e.verify_message) from e
            except OSError as e:
                connection.close()
                plain = isinstance(e, ssl.SSLError) and e.reason == "WRONG_VERSION_NUMBER"
                why = "it does not speak TLS, so its address may be one with http" if plain else e
                raise ConnectionFailedError(f"{target.address} cannot be reached: {why}") from e
            try:
                if connection.sock is not None:
                    connection.sock.settimeout((silence or 0) + self.timeout)
                    if opened is not None:
                        opened(connection.sock)
                raw = self._exchange(target, connection, method, path, body, headers)
                break
            except (OSError, http.client.HTTPException) as e:
                connection.close()
                if used and not isinstance(e, TimeoutError):
                    connection, used = self._open(target), False
                    continue
                raise OutcomeUnknownError(
                    f"{method} {path}: the answer of {target.address} was lost: {e or type(e).__name__}"
                ) from e
            except BaseException:
                connection.close()
                raise
        answer = Response(self, target, connection, raw)
        if raw.status < 400 and raw.status not in (301, 302, 303, 307, 308):
            return answer
        with answer:
            content = answer.read()
        if raw.status == 307:
            of_shard = raw.getheader("Millrace-Shard") is not None
            found = self.follow(target, raw.getheader("Location"), path, not of_shard)
            redirected = RedirectedError(f"{target.address} is a standby")
            redirected.target = found if of_shard else None
            raise redirected
        raise failure(raw.status, content)

    def _exchange(
        self,
        target: Target,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Body,
        headers: Optional[Mapping[str, str]],
    ) -> http.client.HTTPResponse:
        all_headers = {**self.headers, **(headers or {})}
        try:
            if callable(body):
                connection.request(
                    method,
                    target.prefix + path,
                    iter(body()),
                    all_headers,
                    encode_chunked="Content-Length" not in all_headers,
                )
            else:
                connection.request(method, target.prefix + path, body, all_headers)
        except (BrokenPipeError, ConnectionResetError):
            # The server may have refused the request before it read the whole body: its answer says why.
            return connection.getresponse()
        return connection.getresponse()

    def json(
        self,
        method: str,
        path: str,
        value: Any = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        repeatable: bool = True,
        silence: Optional[float] = None,
        retry_for: Optional[float] = None,
    ) -> Any:
        """Sends a value as JSON (none for None), and returns the answer: JSON, or None if it is empty."""
        body = None if value is None else to_json(value)
        sent = dict(headers or {})
        if body is not None:
            sent["Content-Type"] = "application/json"
        with self.open(
            method, path, body, headers=sent, repeatable=repeatable, silence=silence, retry_for=retry_for
        ) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def read(self, path: str, question: Any = None) -> Any:
        """The answer to a read as JSON: that of a standby too, if the client accepts answers of some age. It is asked for
        with GET, or posts the question."""
        method = "GET" if question is None else "POST"
        if self._stale is None:
            return self.json(method, path, question)
        with self._lock:
            known, missed = self._position, self._missed
            caught_up = self._caught_up == missed
        # What this client has seen or changed without a position is in any answer of age zero.
        age = round(self._stale * 1000) if caught_up else 0
        path += ("&" if "?" in path else "?") + f"stale={age}ms"
        headers = {} if known is None else {POSITION: known}
        body = None if question is None else to_json(question)
        if body is not None:
            headers["Content-Type"] = "application/json"
        with self.open(method, path, body, headers=headers, anywhere=caught_up) as answer:
            content = answer.read()
        with self._lock:
            self._caught_up = max(self._caught_up, missed)
        return json.loads(content) if content else None

    def events(self, path: str) -> Events:
        """The events of a stream: id, name and data. Ends when the stream ends or breaks."""
        with self.open("GET", path, headers={"Accept": "text/event-stream"}, silence=30) as answer:
            name: Optional[str] = None
            identity: Optional[str] = None
            data: List[str] = []
            for raw in answer.lines():
                line = raw.decode("utf-8").rstrip("\r\n")
                if not line:
                    if data:
                        yield identity, name, json.loads("\n".join(data))
                    name, identity, data = None, None, []
                    continue
                field, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if field == "event":
                    name = value
                elif field == "id":
                    identity = value
                elif field == "data":
                    data.append(value)


class Line(io.RawIOBase):
    """A socket, encrypted or not, that one thread reads while others write. An ``SSLSocket`` does not allow that before
    Python 3.13, so the encryption is done here, under a lock that is never held while waiting for the network."""

    def __init__(self, plain: socket.socket, context: Optional[ssl.SSLContext], host: str) -> None:
        self.socket = plain
        self._tls: Optional[ssl.SSLObject] = None
        self._tls_lock = threading.Lock()
        self._write_lock = threading.Lock()
        if context is not None:
            self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
            while True:
                try:
                    tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    plain.sendall(self._outgoing.read())
                    self._feed(plain.recv(65536))
            self._tls = tls
            self.sendall(b"")

    def _feed(self, data: bytes) -> None:
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._tls is None:
            return self.socket.recv_into(buffer)
        while True:
            with self._tls_lock:
                try:
                    data = self._tls.read(len(buffer))
                    break
                except ssl.SSLWantReadError:
                    pass
                except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                    return 0
            received = self.socket.recv(65536)
            with self._tls_lock:
                self._feed(received)
        buffer[: len(data)] = data
        return len(data)

    def sendall(self, data: bytes) -> None:
        """Writes all of it. Used by one thread at a time or several."""
        with self._write_lock:
            if self._tls is not None:
                with self._tls_lock:
                    if data:
                        self._tls.write(data)
                    data = self._outgoing.read()
            self.socket.sendall(data)

    def close(self) -> None:
        self.socket.close()
        super().close()


def pieces(source: BinaryIO) -> Iterator[bytes]:
    """What a stream has from its present position, in pieces."""
    while True:
        piece = source.read(CHUNK)
        if not piece:
            return
        yield piece
