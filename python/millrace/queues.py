"""Queues of commands and plugins, which execution nodes run."""

import time
from datetime import datetime, timedelta
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._http import Events, Transport, part, query
from ._why import timed_out
from .jobs import LONGEST_WAIT, duration, moment

# Queued, claimed, running.
NOT_ENDED = (-2, -1, 0)

FINISHED_WELL = 1


class Queues:
    """Queues of a server. A queue is named by its name or id, a task by its id. Safe for use by several threads."""

    def __init__(self, transport: Transport) -> None:
        self._http = transport

    def list(self) -> List[Dict[str, Any]]:
        """All queues with their numbers of tasks, oldest first."""
        return list(self._http.read("/dci/queues"))

    def get(self, queue: str) -> Dict[str, Any]:
        """A queue."""
        return dict(self._http.read("/dci/queues/" + part(queue)))

    def create(self, name: str, plugin: str, **settings: Any) -> str:
        """Creates a queue and returns its id. ``settings``: ``threads`` (None, the default, runs nothing) and those of
        docs/queues.md, for example ``attempts=5``, ``retry_delay="10s"``."""
        made = self._http.json("POST", "/dci/queues", {"name": name, "plugin": plugin, **settings}, repeatable=False)
        return str(made["id"]["$oid"])

    def update(self, queue: str, **settings: Any) -> None:
        """Changes settings of a queue; None unsets one."""
        self._http.json("POST", "/dci/queues/" + part(queue), settings)

    def delete(self, queue: str) -> None:
        """Deletes a queue. Its tasks are kept and do not run."""
        self._http.json("DELETE", "/dci/queues/" + part(queue), repeatable=False)

    def submit(
        self,
        queue: str,
        *params: Mapping[str, Any],
        delay: Union[int, float, timedelta, None] = None,
        at: Optional[datetime] = None,
        **settings: Any,
    ) -> List[str]:
        """Creates a task for each of the params, and returns their ids.

        ``settings`` take precedence over those of the queue, for example ``attempts``, ``timeout``, ``unique``, ``key``,
        ``priority``. A lost answer is an OutcomeUnknownError, since a repetition could create the tasks twice; with
        ``unique`` it is repeated.
        """
        path = query(
            "/dci/tasks/" + part(queue),
            delay=None if delay is None else duration(delay),
            at=None if at is None else moment(at),
            **settings,
        )
        made = self._http.json("POST", path, [dict(one) for one in params], repeatable="unique" in settings)
        result = made.get("MongoDB::InsertManyResult", made)
        return [str(one["_id"]["$oid"]) for one in result["inserted"]]

    def task(self, id: str) -> Dict[str, Any]:
        """A task with its output; times are milliseconds."""
        return dict(self._http.read("/dci/tasks/id/" + part(id)))

    def search(self, filter: Optional[Mapping[str, Any]] = None, *, archived: bool = False, **options: Any) -> List[Dict[str, Any]]:
        """Up to 100 tasks that a filter of MongoDB's form chooses. ``options``: ``limit``, ``skip``, ``sort``,
        ``projection``."""
        request = {"filter": dict(filter or {}), "options": options, "archived": archived}
        return list(self._http.read("/dci/tasks/search", request))

    def count(self, filter: Optional[Mapping[str, Any]] = None) -> int:
        """How many tasks a filter chooses."""
        return int(self._http.read("/dci/tasks/search", {"filter": dict(filter or {}), "count": True})["count"])

    def wait(self, ids: Sequence[str], timeout: Optional[float] = None) -> Dict[str, Optional[int]]:
        """Waits until all tasks have ended, and returns their statuses: 1 is success, 2 failure, None an unknown task.
        Raises WaitTimeoutError."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONGEST_WAIT if end is None else min(LONGEST_WAIT, max(0.0, end - time.monotonic()))
            request = {"ids": [*ids], "timeout": round(left * 1000)}
            state = self._http.json("POST", "/dci/tasks/wait", request, silence=left)
            if state["ended"] >= state["total"]:
                return dict(state["tasks"])
            if end is not None and time.monotonic() >= end:
                message = f"{state['total'] - state['ended']} tasks have not ended in {timeout:g} s"
                left_over = (id for id, status in state["tasks"].items() if status in NOT_ENDED)
                raise timed_out(self._http, message, "task", next(left_over, None))

    def output(self, id: str, stream: str = "stdout", *, offset: int = 0, last: Optional[int] = None) -> bytes:
        """What a task has written to "stdout", "stderr" or "mixedout" so far."""
        with self._http.open("GET", self._output(id, stream, offset=offset, last=last)) as answer:
            return answer.read()

    def follow(self, id: str, stream: str = "stdout", *, offset: int = 0) -> Iterator[bytes]:
        """The output of a task as it arrives, until the task has ended."""
        with self._http.open("GET", self._output(id, stream, offset=offset, follow=True), silence=86400) as answer:
            yield from answer.lines()

    @staticmethod
    def _output(id: str, stream: str, **parameters: Any) -> str:
        if stream not in ("stdout", "stderr", "mixedout"):
            raise ValueError(f'the output is "stdout", "stderr" or "mixedout", not "{stream}"')
        return query(f"/dci/tasks/id/{part(id)}/{stream}", **parameters)

    def requeue(self, id: str) -> Dict[str, Any]:
        """Queues a task again that has ended or is held back. Returns it."""
        return self._act(id, "requeue", {})

    def cancel(self, id: str, reason: str = "") -> Dict[str, Any]:
        """Cancels a queued task. Returns it."""
        return self._act(id, "cancel", {"reason": reason} if reason else {})

    def terminate(self, id: str) -> Dict[str, Any]:
        """Ends a task, also a running one. Returns it."""
        return self._act(id, "terminate", {})

    def _act(self, id: str, action: str, fields: Dict[str, Any]) -> Dict[str, Any]:
        return dict(self._http.json("POST", f"/dci/tasks/id/{part(id)}/{action}", fields, repeatable=False))

    def events(self, after: Optional[str] = None, **filters: Any) -> Events:
        """Changes as (id, name, data), until the stream ends. ``filters``: ``queue``, ``type``."""
        return self._http.events(query("/dci/events", after=after, **filters))
