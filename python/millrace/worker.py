"""A worker: runs handlers for jobs, over a WebSocket or by polling."""

import io
import json
import logging
import os
import signal
import socket
import ssl
import tempfile
import threading
import time
import traceback
import uuid
from typing import IO, Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Set, TypeVar, Union
from urllib.parse import unquote

from ._http import CHUNK, Backoff, Transport, part, pieces, query, read_secret, trusted
from ._websocket import NotWebSocketError, WebSocket
from .errors import (
    AuthenticationError,
    CertificateError,
    ConflictError,
    JobFailure,
    MillraceError,
    NotFoundError,
    ServerError,
    UnavailableError,
    WebSocketClosedError,
    WorkerRefusedError,
)
from .kinds import JobKind, plain

LOG = logging.getLogger("millrace.worker")

Handler = Callable[[Any, "JobContext"], Any]
H = TypeVar("H", bound=Handler)

# Payloads and results up to this size are kept in memory, larger ones in a temporary file.
IN_MEMORY = 1 << 20
PING_SECONDS = 20.0
POLL_SECONDS = 20
MAX_INFO, MAX_LOGS = 1000, 64000
GOING_AWAY, REJECTED = 1001, (1002, 1003, 1007, 1008)


class JobContext:
    """The job that a handler works on. ``id`` and ``key`` name it, ``type`` is its type or None, ``size`` the length of its
    payload. ``token`` is the fencing token: larger for each attempt, to keep late work from doing harm in other systems.
    ``schedule`` and ``trace`` are what the server says of a run of a schedule and of a trace."""

    def __init__(self, fields: Dict[str, Any], type: Optional[str], report: Callable[[Any, Any], None]) -> None:
        self.id = str(fields.get("job", ""))
        self.key = str(fields.get("key", ""))
        self.token = int(fields.get("token", 0))
        self.size = int(fields.get("bytes", -1))
        self.type = type
        self.schedule: Optional[Dict[str, Any]] = fields.get("schedule")
        self.trace = {name: fields[name] for name in ("traceparent", "tracestate") if fields.get(name)}
        self._report = report
        self._cancelled = threading.Event()
        self.reason = ""

    def progress(self, percent: Optional[float] = None, info: Optional[str] = None) -> None:
        """Reports how far the job is: a percentage from 0 to 100, a text, or both. Also a sign of life."""
        if percent is None and info is None:
            raise ValueError("progress has a percentage or an info")
        if percent is not None and not 0 <= percent <= 100:
            raise ValueError(f"the percentage is 0 to 100, not {percent}")
        self._report(percent, info)

    @property
    def cancelled(self) -> bool:
        """Whether the job was cancelled or taken back, so that its result will be discarded. ``reason`` says why."""
        return self._cancelled.is_set()

    def wait_cancelled(self, seconds: float) -> bool:
        """Pauses for so many seconds, or until the job is cancelled. Returns whether it is."""
        return self._cancelled.wait(seconds)

    def _cancel(self, reason: str) -> None:
        if not self._cancelled.is_set():
            self.reason = reason
            self._cancelled.set()
            LOG.info("job %s was taken back: %s", self.key or self.id, reason)


class _Task:
    """A handler with how it takes its payload."""

    def __init__(self, type: Optional[str], kind: Optional["JobKind[Any, Any]"], stream: bool, handler: Handler) -> None:
        self.type = type
        self._kind = kind
        self._stream = stream
        self._handler = handler

    def run(self, payload: IO[bytes], job: JobContext) -> BinaryIO:
        """Runs the handler. Returns the result from its beginning; raises JobFailure and nothing else."""
        try:
            value: Any = payload
            if not self._stream:
                content = payload.read()
                value = content if self._kind is None else self._read(content)
            result = self._handler(value, job)
            if self._kind is not None:
                return io.BytesIO(self._kind.write(result))
            return _result(result)
        except JobFailure:
            raise
        except Exception as e:
            info = f"{type(e).__name__}: {e}" if str(e) else type(e).__name__
            raise JobFailure(info, logs=traceback.format_exc()) from e

    def _read(self, content: bytes) -> Any:
        assert self._kind is not None
        try:
            return self._kind.read_payload(content)
        except ValueError as e:
            name = getattr(self._kind.payload, "__name__", str(self._kind.payload))
            raise JobFailure(f"the payload is no {name}: {e}", code="payload") from e


def _result(result: Any) -> BinaryIO:
    if result is None:
        return io.BytesIO()
    if isinstance(result, (bytes, bytearray, memoryview)):
        return io.BytesIO(bytes(result))
    if isinstance(result, str):
        return io.BytesIO(result.encode())
    if isinstance(result, os.PathLike):
        return open(result, "rb")
    if hasattr(result, "read"):
        return _spooled(pieces(result))
    if isinstance(result, Iterator):
        return _spooled(result)
    return io.BytesIO(json.dumps(plain(result), ensure_ascii=False, allow_nan=False).encode())


def _spooled(parts: Iterable[bytes]) -> BinaryIO:
    """All of the parts, read to their end before any of it is sent."""
    spool: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)
    try:
        for piece in parts:
            spool.write(piece)
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    result: BinaryIO = spool
    return result


def _failure(failure: JobFailure) -> Dict[str, Any]:
    fields: Dict[str, Any] = {"info": failure.info[:MAX_INFO], "logs": None}
    if failure.logs is not None:
        fields["logs"] = failure.logs[-MAX_LOGS:]
    if failure.code is not None:
        fields["failureCode"] = failure.code
    if failure.retry_after is not None:
        fields["retryAfter"] = failure.retry_after
    if failure.snooze is not None:
        fields["snooze"] = failure.snooze
    return fields


class Worker:
    """Runs handlers for jobs. Register them with ``job`` and then call ``run``, or ``start`` and ``stop``.

    ``address``, ``token``, ``timeout``, ``certificates``: as for ``Client``. ``worker_token`` or ``worker_token_file``: the
    secret of the registration, if the server has one; otherwise MILLRACE_WORKER_TOKEN. ``id``: unique among workers, by
    default drawn at random; ``name``: for people, by default the name of the machine. ``concurrency``: how many jobs of
    each type run at a time, 1 to 1,000, each in a thread of its own. ``polling``: requests over HTTP instead of a WebSocket;
    a worker polls by itself if something on the way does not let WebSockets through. ``heartbeat``: after how many seconds a
    polling worker says again that it works, less than ``jobs.stuck-after``.
    """

    def __init__(
        self,
        address: Optional[str] = None,
        *,
        token: Optional[str] = None,
        token_file: Union[str, "os.PathLike[str]", None] = None,
        worker_token: Optional[str] = None,
        worker_token_file: Union[str, "os.PathLike[str]", None] = None,
        id: Optional[str] = None,
        name: Optional[str] = None,
        concurrency: int = 1,
        polling: bool = False,
        heartbeat: float = 10,
        timeout: float = 30,
        certificates: Union[str, "os.PathLike[str]", None] = None,
    ) -> None:
        if not 1 <= concurrency <= 1000:
            raise ValueError(f"concurrency is 1 to 1000, not {concurrency}")
        if heartbeat <= 0:
            raise ValueError("heartbeat is above 0, in seconds")
        self.worker_token = read_secret(worker_token, worker_token_file, "MILLRACE_WORKER_TOKEN")
        self.http = Transport(
            address or os.environ.get("MILLRACE_SERVER") or "http://127.0.0.1:8048",
            read_secret(token, token_file, "MILLRACE_TOKEN"),
            None,
            timeout,
            60,
            trusted(certificates),
        )
        self.name = name or socket.gethostname()
        self.id = id or f"py-{uuid.uuid4().hex[:12]}"
        self.concurrency = concurrency
        self.polling = polling
        self.heartbeat = heartbeat
        self._tasks: Dict[Optional[str], _Task] = {}
        self._links: List["_Link"] = []
        self._stopping = threading.Event()

    def job(self, type: Union[str, "JobKind[Any, Any]", None] = None, *, stream: bool = False) -> Callable[[H], H]:
        """Registers a function ``handler(payload, job)`` for a job type or kind; without one, for a server without types.

        ``payload`` is bytes, with ``stream`` a binary file, and for a JobKind a value. The function returns the result: a
        value for a JobKind; otherwise None, bytes, text, a path, a binary file, an iterator of bytes, or anything that JSON
        can hold. If it raises, the job fails: JobFailure says how, any other exception fails it with the trace as its logs.
        """
        kind = type if isinstance(type, JobKind) else None
        name = type.name if isinstance(type, JobKind) else type

        def register(handler: H) -> H:
            if self._links:
                raise RuntimeError("the worker has started")
            if name in self._tasks:
                raise ValueError(f"there is a handler for {name or 'jobs without a type'} already")
            self._tasks[name] = _Task(name, kind, stream, handler)
            return handler

        return register

    def start(self) -> None:
        """Connects and works in threads of its own."""
        if not self._tasks:
            raise RuntimeError("the worker has no handlers; register one with @worker.job()")
        if self._links:
            raise RuntimeError("the worker has started")
        for task in self._tasks.values():
            id = self.id if len(self._tasks) == 1 else f"{self.id}-{task.type or 'any'}"
            self._links.append(_Link(self, task, id))
        for link in self._links:
            link.start()

    def wait_ready(self, timeout: Optional[float] = None) -> bool:
        """Waits until the server has admitted the worker. Returns False after ``timeout`` seconds, and raises
        WorkerRefusedError if the server refuses it."""
        end = None if timeout is None else time.monotonic() + timeout
        for link in self._links:
            if not link.ready.wait(None if end is None else max(0.0, end - time.monotonic())):
                return False
        self._check()
        return True

    def _check(self) -> None:
        for link in self._links:
            if link.refusal is not None:
                raise link.refusal

    def stop(self, grace: Optional[float] = None) -> None:
        """Takes no more jobs, waits up to ``grace`` seconds for those that run (without end if None), and gives the rest back
        to the server, which does not count it as a failure."""
        self._stopping.set()
        for link in self._links:
            link.leave()
        end = None if grace is None else time.monotonic() + grace
        for link in self._links:
            link.join(None if end is None else max(0.0, end - time.monotonic()))
        for link in self._links:
            link.give_back()
        self.http.close()

    def run(self, grace: Optional[float] = None) -> None:
        """Works until SIGTERM or SIGINT, and then stops as ``stop`` does; a second signal gives the jobs back at once. In
        another thread than the main one, until ``stop`` is called. Raises WorkerRefusedError if the server refuses the
        worker."""
        signals = 0

        def on_signal(number: int, frame: Any) -> None:
            nonlocal signals
            signals += 1

        before: Dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.start()
            while signals == 0 and any(link.is_alive() for link in self._links):
                self._stopping.wait(0.1)
                self._check()
                if self._stopping.is_set():
                    break
            stopper = threading.Thread(target=self.stop, args=(grace,), daemon=True)
            stopper.start()
            while stopper.is_alive() and signals < 2:
                stopper.join(0.1)
            if stopper.is_alive():
                self.stop(0)
            self._check()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def __enter__(self) -> "Worker":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class _Link:
    """The connection for one job type, which is made again whenever it breaks."""

    def __init__(self, worker: Worker, task: _Task, id: str) -> None:
        self.worker = worker
        self.task = task
        self.id = id
        self.ready = threading.Event()
        self.leaving = threading.Event()
        self.refusal: Optional[WorkerRefusedError] = None
        self._session: Optional[_Session] = None
        self._lock = threading.Lock()
        self._pollers: List[_Poller] = []
        self._thread = threading.Thread(target=self._run, name=f"millrace-worker-{id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self, timeout: Optional[float]) -> None:
        self._thread.join(timeout)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def path(self) -> str:
        return "/api/worker" + ("" if self.task.type is None else "/" + part(self.task.type))

    def leave(self) -> None:
        self.leaving.set()
        with self._lock:
            session = self._session
        if session is not None:
            session.leave()
        for poller in self._pollers:
            poller.leave()

    def give_back(self) -> None:
        with self._lock:
            session = self._session
        if session is not None:
            session.go_away()
        for poller in self._pollers:
            poller.give_back()

    def refuse(self, reason: str) -> None:
        self.refusal = WorkerRefusedError(f"{self.worker.http.address} refuses the worker: {reason}")
        self.leaving.set()
        self.ready.set()

    def _run(self) -> None:
        backoff = Backoff(0.1, 10, growth=1.25)
        rejections = 0
        while not self.leaving.is_set() and not self.worker.polling:
            try:
                session = _Session(self)
            except NotWebSocketError as e:
                LOG.warning("no WebSocket at %s, polling instead: %s", self.worker.http.address, e)
                break
            except (AuthenticationError, NotFoundError, ServerError) as e:
                if not self.ready.is_set() and e.status < 500:
                    self.refuse(str(e))
                    return
                reason = str(e)
            except (OSError, MillraceError) as e:
                if not self.ready.is_set() and isinstance(e, (ssl.SSLError, CertificateError)):
                    self.refuse(str(e))
                    return
                reason = str(e)
            else:
                with self._lock:
                    self._session = session
                # A leave() from now on finds the session; an earlier one is seen here.
                if self.leaving.is_set():
                    session.release()
                    return
                ended = session.serve()
                with self._lock:
                    self._session = None
                if session.registered:
                    backoff.reset()
                rejections = rejections + 1 if not self.ready.is_set() and ended.code in REJECTED else 0
                if rejections == 2:
                    self.refuse(ended.reason)
                    return
                reason = str(ended)
            if not self.leaving.is_set():
                LOG.warning("no connection to %s, trying again: %s", self.worker.http.address, reason)
                self.leaving.wait(backoff.next())
        if not self.leaving.is_set():
            self._poll()

    def _poll(self) -> None:
        count = self.worker.concurrency
        self._pollers = [_Poller(self, self.id if count == 1 else f"{self.id}-{n}") for n in range(1, count + 1)]
        for poller in self._pollers:
            poller.start()
        for poller in self._pollers:
            poller.join()


class _Session:
    """One WebSocket, from its registration to its end."""

    def __init__(self, link: _Link) -> None:
        worker = link.worker
        self._link = link
        self._socket = WebSocket(worker.http, link.path, PING_SECONDS * 3)
        self.registered = False
        self._announced: Dict[str, Any] = {}
        self._arriving: Any = None
        self._active: Set[JobContext] = set()
        self._changed = threading.Condition()
        self._closing = False
        self._over = threading.Event()

    def serve(self) -> WebSocketClosedError:
        """Works until the connection ends, and returns how."""
        worker = self._link.worker
        try:
            self._socket.send_json(
                {
                    "code": 0,
                    "name": worker.name,
                    "id": self._link.id,
                    "token": worker.worker_token or "",
                    "jobs": worker.concurrency,
                }
            )
            threading.Thread(target=self._ping, name="millrace-ping", daemon=True).start()
            while True:
                text = self._socket.receive(self._payload)
                if text is not None:
                    self._message(json.loads(text))
        except WebSocketClosedError as e:
            ended = e
        except (OSError, ValueError) as e:
            ended = WebSocketClosedError(1006, f"the connection broke: {e}")
        finally:
            self._over.set()
            self._socket.release()
            with self._changed:
                active = list(self._active)
        for job in active:
            job._cancel(f"the connection ended: {ended}")
        if self._arriving is not None:
            self._arriving.close()
        return ended

    def _ping(self) -> None:
        while not self._over.wait(PING_SECONDS):
            try:
                self._socket.ping()
            except (OSError, WebSocketClosedError):
                return

    def _message(self, message: Any) -> None:
        if not self.registered:
            self.registered = True
            self._link.ready.set()
        code = message.get("code")
        if code == 2:
            if isinstance(message.get("refused"), str):
                with self._changed:
                    lost = [job for job in self._active if job.id == message["refused"]]
                for job in lost:
                    job._cancel(str(message.get("info") or "the server took it back"))
            self._send_status()
        elif code == 5:
            self._announced = message

    def _send_status(self) -> None:
        with self._changed:
            busy = self._link.leaving.is_set() or (self._link.worker.concurrency == 1 and bool(self._active))
        self._socket.send_json({"code": 1, "status": 0 if busy else 1})

    def _payload(self, piece: bytes, last: bool) -> None:
        if self._arriving is None:
            self._arriving = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)
        self._arriving.write(piece)
        if not last:
            return
        payload, self._arriving = self._arriving, None
        payload.seek(0)
        announced, self._announced = self._announced, {}
        job = JobContext(announced, self._link.task.type, lambda percent, info: self._progress(job, percent, info))
        with self._changed:
            if self._closing:
                # It crossed the close message. The server offers it to another worker.
                payload.close()
                return
            self._active.add(job)
        threading.Thread(target=self._work, args=(job, payload), name=f"millrace-job-{job.key}", daemon=True).start()

    def _progress(self, job: JobContext, percent: Optional[float], info: Optional[str]) -> None:
        if not job.cancelled:
            self._send_quietly({"code": 3, "job": job.id, "percent": percent, "info": info})

    def _send_quietly(self, message: Dict[str, Any]) -> None:
        try:
            self._socket.send_json(message)
        except (OSError, WebSocketClosedError):
            # The thread that receives notices it too, and takes the job back.
            LOG.debug("a message could not be sent", exc_info=True)

    def _work(self, job: JobContext, payload: IO[bytes]) -> None:
        try:
            with payload:
                result = self._link.task.run(payload, job)
        except JobFailure as e:
            if not job.cancelled:
                self._send_quietly({"code": 4, "job": job.id, **_failure(e)})
        else:
            with result:
                if not job.cancelled:
                    self._send_result(job, result)
        finally:
            with self._changed:
                self._active.discard(job)
            self._close_if_done()

    def _send_result(self, job: JobContext, result: BinaryIO) -> None:
        try:
            self._socket.send_announced({"code": 6, "job": job.id}, pieces(result))
        except WebSocketClosedError:
            LOG.debug("a result could not be sent", exc_info=True)
        except OSError:
            # The message may have been begun, and cannot be ended.
            LOG.warning("the result of job %s could not be sent", job.key, exc_info=True)
            self._socket.cut()

    def leave(self) -> None:
        """Takes no more jobs, and closes the connection when the present ones have ended."""
        try:
            self._send_status()
        except (OSError, WebSocketClosedError):
            return
        self._close_if_done()

    def _close_if_done(self) -> None:
        with self._changed:
            if not self._link.leaving.is_set() or self._closing or self._active or self._arriving is not None:
                return
            self._closing = True
        self._end(1000, "the worker leaves")

    def release(self) -> None:
        """Ends it before it has begun."""
        self._over.set()
        self._socket.release()

    def go_away(self) -> None:
        """Gives the jobs back."""
        with self._changed:
            self._closing = True
        self._end(GOING_AWAY, "the worker stops")

    def _end(self, code: int, reason: str) -> None:
        self._socket.close(code, reason)
        if not self._over.wait(5):
            self._socket.cut()


class _Poller:
    """One job after the other by requests over HTTP."""

    def __init__(self, link: _Link, id: str) -> None:
        self._link = link
        self._id = id
        self._http = link.worker.http
        self._job: Optional[JobContext] = None
        self._progressed: Dict[str, Any] = {"percent": None, "info": "working"}
        self._waiting: Optional[socket.socket] = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"millrace-poll-{id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def leave(self) -> None:
        """Breaks off the request for a job that waits. If the server gives one at this moment, it offers it again."""
        with self._lock:
            waiting, self._waiting = self._waiting, None
            if waiting is not None:
                try:
                    waiting.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _wait_on(self, opened: Optional[socket.socket]) -> None:
        with self._lock:
            self._waiting = opened
        if opened is not None and self._link.leaving.is_set():
            self.leave()

    def give_back(self) -> None:
        """Takes the job from its handler, and asks the server to offer it again at once, which is no failure."""
        job = self._job
        if job is not None and self._thread.is_alive():
            job._cancel("the worker stops")
            try:
                fields = {"info": "the worker stopped", "snooze": 0}
                self._report(job, "failure", fields, retry_for=0)
            except MillraceError as e:
                LOG.warning("job %s could not be given back: %s", job.key, e)

    def _headers(self) -> Dict[str, str]:
        secret = self._link.worker.worker_token
        return {} if secret is None else {"X-WORKER-TOKEN": secret}

    def _report(self, job: JobContext, what: str, fields: Dict[str, Any], retry_for: Optional[float] = None) -> None:
        path = query(f"/api/jobs/{part(job.id)}/{what}", token=job.token)
        self._http.json("POST", path, fields, headers=self._headers(), retry_for=retry_for)

    def _run(self) -> None:
        backoff = Backoff(0.1, 10, growth=1.25)
        while not self._link.leaving.is_set():
            try:
                self._next()
                self._link.ready.set()
                backoff.reset()
            except (MillraceError, OSError) as e:
                if self._link.leaving.is_set():
                    return
                refused = isinstance(e, CertificateError)
                refused |= isinstance(e, ServerError) and not isinstance(e, UnavailableError) and e.status < 500
                if refused and not self._link.ready.is_set():
                    self._link.refuse(str(e))
                    return
                LOG.warning("no job from %s, trying again: %s", self._http.address, e)
                self._link.leaving.wait(backoff.next())

    def _next(self) -> None:
        worker = self._link.worker
        registration = {"name": worker.name, "id": self._id, "token": worker.worker_token or ""}
        # The first request does not wait, to learn at once whether the worker is admitted.
        wait = POLL_SECONDS if self._link.ready.is_set() else 0
        with self._http.open(
            "POST",
            f"{self._link.path}/next?wait={wait}",
            json.dumps(registration).encode(),
            headers={"Content-Type": "application/json"},
            repeatable=False,
            silence=wait,
            retry_for=0,
            opened=self._wait_on,
        ) as answer:
            self._wait_on(None)
            if answer.status == 204:
                answer.read()
                return
            self._link.ready.set()
            fields: Dict[str, Any] = {
                "job": answer.header("Millrace-Job-Id"),
                "key": unquote(answer.header("Millrace-Job-Key") or ""),
                "token": answer.header("Millrace-Job-Token") or 0,
                "bytes": answer.header("Content-Length") or -1,
                "traceparent": answer.header("traceparent"),
                "tracestate": answer.header("tracestate"),
            }
            if answer.header("Millrace-Schedule"):
                fields["schedule"] = {
                    "name": unquote(answer.header("Millrace-Schedule") or ""),
                    "nominal": answer.header("Millrace-Nominal-Time"),
                    "started": answer.header("Millrace-Started-At"),
                }
            payload = _spooled(iter(lambda: answer.read(CHUNK), b""))
        self._progressed = {"percent": None, "info": "working"}
        job = JobContext(fields, self._link.task.type, lambda percent, info: self._progress(job, percent, info))
        self._job = job
        ended = threading.Event()
        beat = threading.Thread(target=self._beat, args=(job, ended), name="millrace-heartbeat", daemon=True)
        beat.start()
        try:
            self._work(job, payload)
        except ConflictError as e:
            job._cancel(str(e))
        finally:
            ended.set()
            self._job = None

    def _work(self, job: JobContext, payload: BinaryIO) -> None:
        try:
            with payload:
                result = self._link.task.run(payload, job)
        except JobFailure as e:
            if not job.cancelled:
                self._report(job, "failure", _failure(e))
            return
        with result:
            if job.cancelled:
                return

            def body() -> Iterator[bytes]:
                result.seek(0)
                return pieces(result)

            path = query(f"/api/jobs/{part(job.id)}/result", token=job.token)
            size = result.seek(0, os.SEEK_END)
            headers = {**self._headers(), "Content-Type": "application/octet-stream", "Content-Length": str(size)}
            with self._http.open("POST", path, body, headers=headers) as answer:
                answer.read()

    def _progress(self, job: JobContext, percent: Optional[float], info: Optional[str]) -> None:
        self._progressed = {"percent": percent, "info": info}
        self._tell(job)

    def _beat(self, job: JobContext, ended: threading.Event) -> None:
        while not ended.wait(self._link.worker.heartbeat) and not job.cancelled:
            self._tell(job)

    def _tell(self, job: JobContext) -> None:
        if job.cancelled:
            return
        try:
            self._report(job, "progress", self._progressed, retry_for=0)
        except (ConflictError, NotFoundError) as e:
            job._cancel(str(e))
        except MillraceError as e:
            LOG.debug("progress of job %s could not be reported: %s", job.key, e)
