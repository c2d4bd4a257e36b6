"""The job server: submitting jobs, waiting for them, and reading results."""

import io
import json
import os
import time
import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Optional, TypeVar, Union

from ._http import CHUNK, Events, Transport, part, pieces, query
from ._why import timed_out
from .errors import JobFailedError, NotFoundError, OutcomeUnknownError, ServerError
from .kinds import JobKind

P = TypeVar("P")
R = TypeVar("R")

Payload = Union[bytes, bytearray, str, "os.PathLike[str]", BinaryIO]

# Shorter than the time after which a connection without traffic may be cut on its way.
LONGEST_WAIT = 20.0

FINAL = ("done", "failed")


def duration(seconds: Union[int, float, timedelta]) -> str:
    """A duration as the server reads it."""
    if isinstance(seconds, timedelta):
        seconds = seconds.total_seconds()
    return f"{round(seconds * 1000)}ms"


def moment(at: datetime) -> str:
    """A moment as the server reads it."""
    if at.tzinfo is None:
        raise ValueError("the time needs a zone, for example datetime.now(timezone.utc)")
    return at.isoformat()


class SubmittedJob:
    """A job that was submitted: its ``id`` and ``key``, and whether it is a ``duplicate``: a job with the same unique key was
    there already, and is the one that is named."""

    def __init__(self, jobs: "Jobs", id: str, key: str, duplicate: bool) -> None:
        self._jobs = jobs
        self.id = id
        self.key = key
        self.duplicate = duplicate

    def wait(self, timeout: Optional[float] = None) -> Dict[str, Any]:
        """As ``Jobs.wait``."""
        return self._jobs.wait(self.id, timeout)

    def result(self, timeout: Optional[float] = None) -> bytes:
        """Waits until the job is done, and returns its result. Raises JobFailedError if it has failed."""
        return self._jobs.result(self.id, timeout)

    def cancel(self) -> Dict[str, Any]:
        """As ``Jobs.cancel``."""
        return self._jobs.cancel(self.id)

    def __repr__(self) -> str:
        return f"SubmittedJob(id={self.id!r}, key={self.key!r}, duplicate={self.duplicate})"


class Jobs:
    """Jobs of a server. A job is named by its key or its id. Safe for use by several threads."""

    def __init__(self, transport: Transport) -> None:
        self._http = transport

    @staticmethod
    def _path(job: str) -> str:
        return "/api/jobs/" + part(job)

    def submit(
        self,
        payload: Payload,
        *,
        type: Optional[str] = None,
        priority: str = "batch",
        key: Optional[str] = None,
        description: Optional[str] = None,
        delay: Union[int, float, timedelta, None] = None,
        at: Optional[datetime] = None,
        unique: Optional[str] = None,
        **settings: Union[str, int, float],
    ) -> SubmittedJob:
        """Submits a job.

        ``payload``: bytes, text, a path, or a stream from its present position. ``type``: only on a server with job types.
        ``priority``: "immediate" or "batch". ``key``: a name unique among the jobs there are; drawn at random without one.
        ``delay`` in seconds, or ``at``: when it can begin. ``unique``: as long as a job holds this key, another submission
        makes none. ``settings``: those of docs/jobs.md, for example ``attempts=5``, ``retry_delay="10s"``, ``timeout="1h"``.

        If the answer is lost, the submission is repeated with the same key, so it makes one job. A stream that cannot seek
        is not repeated: OutcomeUnknownError.
        """
        fields: Dict[str, str] = {"Priority": priority, "Key": key if key is not None else "py-" + uuid.uuid4().hex}
        if description is not None:
            fields["Description"] = description
        if delay is not None:
            fields["Delay"] = duration(delay)
        if at is not None:
            fields["At"] = moment(at)
        if unique is not None:
            fields["unique"] = unique
        fields.update({name: str(value) for name, value in settings.items()})
        path = "/api/jobs/submit" + ("/" + part(type) if type is not None else "")
        if isinstance(payload, os.PathLike):
            with open(payload, "rb") as file:
                return self._submit(path, fields, file)
        if isinstance(payload, str):
            payload = payload.encode()
        if isinstance(payload, (bytes, bytearray)):
            payload = io.BytesIO(payload)
        if not hasattr(payload, "read"):
            kind = payload.__class__.__name__
            raise TypeError(f"a payload is bytes, text, a path or a stream, not {kind}; a JobKind makes one of a value")
        return self._submit(path, fields, payload)

    def _submit(self, path: str, fields: Dict[str, str], source: BinaryIO) -> SubmittedJob:
        boundary = uuid.uuid4().hex
        head = b""
        for name, value in fields.items():
            head += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        head += f'--{boundary}\r\nContent-Disposition: form-data; name="Payload"; filename="payload"\r\n\r\n'.encode()
        tail = f"\r\n--{boundary}--\r\n".encode()
        start = source.tell() if _seekable(source) else None
        headers = {"Content-Type": "multipart/form-data; boundary=" + boundary}
        if start is not None:
            size = source.seek(0, os.SEEK_END) - start
            headers["Content-Length"] = str(len(head) + size + len(tail))
        tries = 0

        def body() -> Iterable[bytes]:
            nonlocal tries
            tries += 1
            if start is not None:
                source.seek(start)
            yield head
            yield from pieces(source)
            yield tail

        try:
            with self._http.open("POST", path, body, headers=headers, repeatable=start is not None) as answer:
                made = answer_json(answer.read())
        except ServerError as e:
            # After a lost answer, the job of this name is most likely that of the first try.
            if tries < 2 or e.status not in (400, 409):
                raise
            try:
                return self._found(fields, source, start or 0)
            except NotFoundError:
                raise e from None
        return SubmittedJob(self, made["id"], made["created"], bool(made.get("duplicate", False)))

    def _found(self, fields: Dict[str, str], source: BinaryIO, start: int) -> SubmittedJob:
        job = self.get(fields["Key"])
        source.seek(start)
        with self._http.open("GET", self._path(job["id"]) + "/payload") as stored:
            same = True
            while same:
                piece = stored.read(CHUNK)
                same = piece == source.read(len(piece) or 1)
                if not piece:
                    break
        if not same:
            raise OutcomeUnknownError(f"there is another job with the key {fields['Key']}, and the first answer was lost")
        return SubmittedJob(self, job["id"], job["key"], False)

    def submit_kind(self, kind: "JobKind[P, R]", payload: P, **options: Any) -> SubmittedJob:
        """Submits a typed job, with the options of ``submit`` except ``type``."""
        return self.submit(kind.write(payload), type=kind.name, **options)

    def await_kind(self, kind: "JobKind[P, R]", job: Union[str, SubmittedJob], timeout: Optional[float] = None) -> R:
        """Waits for a typed job and returns its result. Raises as ``result`` does."""
        return kind.read_result(self.result(job.id if isinstance(job, SubmittedJob) else job, timeout))

    def call(self, kind: "JobKind[P, R]", payload: P, timeout: Optional[float] = None, **options: Any) -> R:
        """Submits a typed job, waits for it, and returns its result."""
        return self.await_kind(kind, self.submit_kind(kind, payload, **options), timeout)

    def get(self, job: str) -> Dict[str, Any]:
        """The job, with the fields of docs/api.md."""
        return dict(self._http.read(self._path(job)))

    def list(self, **filters: Any) -> Iterator[Dict[str, Any]]:
        """The jobs in the order of their ids, page by page. ``filters``: ``type``, ``status``, ``priority``, ``batch``,
        ``worker``, ``text`` (a part of the id, the key or the description); ``order="newest"`` for the newest first."""
        after: Optional[str] = None
        while True:
            page = self._http.read(query("/api/jobs", limit=1000, after=after, **filters))
            yield from page
            if len(page) < 1000:
                return
            after = page[-1]["id"]

    def wait(self, job: str, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Waits until the job is done or failed, and returns it. Raises WaitTimeoutError after ``timeout`` seconds; without
        one, it waits without end."""
        return waited(self._http, self._path(job), lambda state: state["status"] in FINAL, timeout, f"job {job}", job)

    def result(self, job: str, timeout: Optional[float] = None) -> bytes:
        """Waits until the job is done, and returns its result. Raises JobFailedError if it has failed."""
        self._done(job, timeout)
        with self._http.open("GET", self._path(job) + "/result") as answer:
            return answer.read()

    def stream_result(self, job: str, timeout: Optional[float] = None) -> Iterator[bytes]:
        """Waits until the job is done, and returns its result in pieces. Raises JobFailedError if it has failed."""
        self._done(job, timeout)
        with self._http.open("GET", self._path(job) + "/result") as answer:
            while True:
                piece = answer.read(CHUNK)
                if not piece:
                    return
                yield piece

    def save_result(self, job: str, file: Union[str, "os.PathLike[str]"], timeout: Optional[float] = None) -> int:
        """Waits until the job is done, writes its result to a file, and returns its length. The file appears when all of
        it has arrived."""
        path = Path(file)
        part_file = path.with_name(path.name + ".part")
        size = 0
        with open(part_file, "wb") as out:
            for piece in self.stream_result(job, timeout):
                size += out.write(piece)
        os.replace(part_file, path)
        return size

    def _done(self, job: str, timeout: Optional[float]) -> None:
        state = self.wait(job, timeout)
        if state["status"] == "failed":
            failures = self.failures(job)
            last = failures[-1] if failures else {}
            raise JobFailedError(last.get("info") or f"job {state['key']} has failed", state, last.get("logs"))

    def payload(self, job: str) -> bytes:
        """The payload of the job."""
        with self._http.open("GET", self._path(job) + "/payload") as answer:
            return answer.read()

    def failures(self, job: str) -> List[Dict[str, Any]]:
        """How attempts of the job failed, oldest first."""
        return list(self._http.read(self._path(job) + "/failures"))

    def returns(self, job: str) -> List[Dict[str, Any]]:
        """The attempts that ended with the connection of their worker, oldest first."""
        return list(self._http.read(self._path(job) + "/returns"))

    def cancel(self, job: str) -> Dict[str, Any]:
        """Makes a pending or running job fail finally. Returns it."""
        return dict(self._http.json("POST", self._path(job) + "/cancel", {}, repeatable=False))

    def retry(self, job: str) -> Dict[str, Any]:
        """Offers a failed job again. Returns it."""
        return dict(self._http.json("POST", self._path(job) + "/retry", {}, repeatable=False))

    def delete(self, job: str) -> None:
        """Deletes the job with its payload and result."""
        self._http.json("DELETE", self._path(job), repeatable=False)

    def types(self) -> List[Dict[str, Any]]:
        """The job types of the server."""
        return list(self._http.read("/api/types"))

    def workers(self) -> List[Dict[str, Any]]:
        """The workers that are connected, and those that were disconnected last."""
        return list(self._http.json("GET", "/api/workers"))

    def batches(self) -> Iterator[Dict[str, Any]]:
        """The batches by number."""
        after = 0
        while True:
            page = self._http.read(query("/api/batches", after=after, limit=1000))
            yield from page
            if len(page) < 1000:
                return
            after = page[-1]["id"]

    def batch(self, number: int) -> Dict[str, Any]:
        """A batch with the number of its jobs in each status."""
        return dict(self._http.read(f"/api/batches/{int(number)}"))

    def wait_batch(self, number: int, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Waits until no job of the batch is pending or running, and returns it."""

        def ended(batch: Dict[str, Any]) -> bool:
            return not batch["jobs"]["pending"] and not batch["jobs"]["running"]

        return waited(self._http, f"/api/batches/{int(number)}", ended, timeout, f"batch {number}")

    def events(self, after: Optional[str] = None, **filters: Any) -> Events:
        """Changes and progress of jobs as (id, name, data), until the stream ends. ``after``: the id of the last event that
        was seen. ``filters``: those of ``list``."""
        return self._http.events(query("/api/events", after=after, **filters))


def _seekable(source: BinaryIO) -> bool:
    # A SpooledTemporaryFile has no such method before Python 3.11, and can seek.
    return bool(source.seekable()) if hasattr(source, "seekable") else True


def answer_json(content: bytes) -> Dict[str, Any]:
    return dict(json.loads(content))


def waited(
    http: Transport, path: str, ended: Any, timeout: Optional[float], what: str, job: Optional[str] = None
) -> Dict[str, Any]:
    """Asks ``path/wait`` until the state has ended. The server counts whole seconds."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = LONGEST_WAIT if end is None else min(LONGEST_WAIT, max(0.0, end - time.monotonic()))
        seconds = int(left) if left >= 1 else 0
        state = dict(http.json("GET", f"{path}/wait?timeout={seconds}", silence=seconds))
        if ended(state):
            return state
        if end is not None and time.monotonic() >= end:
            raise timed_out(http, f"{what} has not ended in {timeout:g} s", "job", job)
        if seconds == 0 and end is not None:
            time.sleep(min(0.1, max(0.0, end - time.monotonic())))

