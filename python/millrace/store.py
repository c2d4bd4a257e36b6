"""The task store: transactions over tasks and documents, claims and renewals."""

import base64
import random
import threading
import uuid
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

from ._http import Events, Transport, part, query
from .errors import ConflictError


class Task(NamedTuple):
    """A task as it was when it was read. ``data`` is bytes. Times are milliseconds of the store.

    ``origin`` is the task's first id, which changes never; ``token`` is the fencing token of its claim.
    """

    id: int
    group: str
    data: bytes
    timespec: int
    ownerid: int
    origin: int
    token: int
    claims: int
    state: str
    key: str
    priority: int

    @property
    def text(self) -> str:
        """The data as text in UTF-8."""
        return self.data.decode("utf-8")


class Document(NamedTuple):
    """A document. ``version`` increases with each change; ``body`` is bytes."""

    collection: str
    key: str
    version: int
    body: bytes


class Commit(NamedTuple):
    """The answer to a transaction: its new tasks (adds, updates, renewals, takings) and the documents written."""

    tasks: List[Task]
    documents: List[Document]
    position: str
    time: int
    repeated: bool


def _data(fields: Dict[str, Any], name: str) -> bytes:
    if name + "64" in fields:
        return base64.b64decode(fields[name + "64"])
    return str(fields.get(name, "")).encode("utf-8")


def _task(fields: Dict[str, Any]) -> Task:
    return Task(
        fields["id"],
        fields["group"],
        _data(fields, "data"),
        fields["timespec"],
        fields["ownerid"],
        fields.get("origin", fields["id"]),
        fields.get("token", 0),
        fields.get("claims", 0),
        fields.get("state", ""),
        fields.get("key", ""),
        fields.get("priority", 0),
    )


def _document(fields: Dict[str, Any]) -> Document:
    return Document(fields["collection"], fields["key"], fields["version"], _data(fields, "body"))


def _put_data(fields: Dict[str, Any], name: str, data: Union[str, bytes]) -> None:
    if isinstance(data, bytes):
        fields[name + "64"] = base64.b64encode(data).decode()
    else:
        fields[name] = data


def _millis(seconds: float) -> int:
    return round(seconds * 1000)


class Transaction:
    """Changes that are applied together or not at all. The methods return the transaction; ``commit`` sends it."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._fields: Dict[str, Any] = {}

    def _append(self, name: str, value: Any) -> "Transaction":
        self._fields.setdefault(name, []).append(value)
        return self

    def add(
        self,
        group: str,
        data: Union[str, bytes] = "",
        *,
        delay: float = 0,
        key: str = "",
        priority: int = 0,
        local: Optional[str] = None,
    ) -> "Transaction":
        """Adds a task, which can be claimed after ``delay`` seconds. ``local``: a name that templates of ``put`` refer to."""
        fields: Dict[str, Any] = {"group": group}
        _put_data(fields, "data", data)
        if delay > 0:
            fields.update(timespec=-_millis(delay), owned=False)
        if key:
            fields["key"] = key
        if priority:
            fields["priority"] = priority
        if local is not None:
            fields["local"] = local
        return self._append("adds", fields)

    def update(
        self, task: Union[Task, int], data: Union[str, bytes, None] = None, *, lease: float = 0
    ) -> "Transaction":
        """Changes a task; without ``data`` it keeps its own. It is released, or with ``lease`` owned for so many seconds."""
        fields: Dict[str, Any] = {"id": _id(task)}
        if data is None:
            fields["keep"] = True
        else:
            _put_data(fields, "data", data)
        if lease > 0:
            fields["timespec"] = -_millis(lease)
        return self._append("updates", fields)

    def delete(self, task: Union[Task, int]) -> "Transaction":
        """Deletes a task, as the end of its work."""
        return self._append("deletes", _id(task))

    def depend(self, task: Union[Task, int]) -> "Transaction":
        """Requires that the task is there unchanged."""
        return self._append("depends", _id(task))

    def renew(self, task: Union[Task, int], lease: float, *, revive: bool = False) -> "Transaction":
        """Lets a claim last for so many seconds from now. The task has a new id and keeps its token."""
        return self._append("renewals", {"id": _id(task), "lease": _millis(lease), "revive": revive})

    def take(self, task: Union[Task, int], lease: float, *, local: Optional[str] = None) -> "Transaction":
        """Claims this waiting task for so many seconds."""
        fields: Dict[str, Any] = {"id": _id(task), "lease": _millis(lease)}
        if local is not None:
            fields["local"] = local
        return self._append("takings", fields)

    def put(
        self, collection: str, key: str, body: Union[str, bytes], *, version: int = -1, template: bool = False
    ) -> "Transaction":
        """Writes a document if it has this version now: 0 if it must not exist, -1 for any."""
        fields: Dict[str, Any] = {"collection": collection, "key": key, "version": version, "template": template}
        _put_data(fields, "body", body)
        return self._append("puts", fields)

    def delete_document(self, collection: str, key: str, *, version: int = -1) -> "Transaction":
        """Deletes a document if it has this version."""
        return self._append("documentdeletes", {"collection": collection, "key": key, "version": version})

    def depend_on_document(self, collection: str, key: str, version: int) -> "Transaction":
        """Requires that the document has this version; 0: that it does not exist."""
        return self._append("documentdepends", {"collection": collection, "key": key, "version": version})

    def commit(self) -> Commit:
        """Sends the transaction. Raises ConflictError with all reasons if it is refused. Lost answers are asked for again."""
        return self._store._send("/store/update", self._fields)


def _id(task: Union[Task, int]) -> int:
    return task.id if isinstance(task, Task) else task


class Store:
    """The task store of a server, as one client of it. Safe for use by several threads.

    ``client_id`` is the owner of what this object claims.
    """

    def __init__(self, transport: Transport, client_id: int) -> None:
        self._http = transport
        self.client_id = client_id

    @staticmethod
    def random_client_id() -> int:
        return random.SystemRandom().randrange(1 << 31, 1 << 52)

    def _send(self, path: str, fields: Dict[str, Any], silence: float = 0) -> Commit:
        request = {"clientid": self.client_id, "requestid": uuid.uuid4().hex, **fields}
        answer = self._http.json("POST", path, request, silence=silence)
        self._http.note(answer.get("position"))
        return Commit(
            [_task(task) for task in answer.get("tasks", [])],
            [_document(document) for document in answer.get("documents", [])],
            answer.get("position", ""),
            answer.get("time", 0),
            bool(answer.get("repeated", False)),
        )

    def transaction(self) -> Transaction:
        """A new transaction, to which changes are added."""
        return Transaction(self)

    def add(self, group: str, *data: Union[str, bytes]) -> List[Task]:
        """Adds a task for each of the data."""
        transaction = self.transaction()
        for one in data:
            transaction.add(group, one)
        return transaction.commit().tasks

    def claim(
        self,
        groups: Union[str, Sequence[str]],
        lease: float,
        *,
        count: int = 1,
        wait: float = 0,
        order: str = "oldest",
        while_fewer_than: int = 0,
    ) -> List[Task]:
        """Claims up to ``count`` waiting tasks of the groups, tried in this order, for ``lease`` seconds.

        ``wait``: for how many seconds to wait for a first one; then the list is empty. ``order``: "oldest", "newest" or
        "random". ``while_fewer_than``: only while fewer tasks of a group are claimed.
        """
        fields = {
            "groups": [groups] if isinstance(groups, str) else list(groups),
            "duration": _millis(lease),
            "count": count,
            "order": order,
            "wait": _millis(wait),
            "whilefewerthan": while_fewer_than,
        }
        return self._send("/store/claim", fields, wait).tasks

    def renew(self, task: Task, lease: float) -> Task:
        """Lets the claim last for ``lease`` seconds from now. The old value of the task is not valid any more."""
        return self.transaction().renew(task, lease).commit().tasks[0]

    def release(self, task: Task) -> Task:
        """Gives a claimed task back, unchanged."""
        return self.transaction().update(task).commit().tasks[0]

    def finish(self, task: Task) -> None:
        """Deletes a claimed task."""
        self.transaction().delete(task).commit()

    @contextmanager
    def held(self, task: Task, lease: float) -> Iterator["HeldTask"]:
        """Renews the claim in the background, each third of the lease, until the block ends. ``HeldTask.task`` is the valid
        value inside the block; call ``HeldTask.stop`` before you finish the task, and use what it returns."""
        held = HeldTask(self, task, lease)
        try:
            yield held
        finally:
            held._end()

    def task(self, id: Union[int, str]) -> Task:
        """The task with this id, or with "~N" that of origin N. Raises NotFoundError."""
        return _task(self._http.read(f"/store/task/{part(id)}"))

    def groups(self) -> List[str]:
        """The names of the groups that are not empty."""
        return list(self._http.read("/store/groups"))

    def tasks(self, group: str, *, limit: int = 0, owned: bool = False, after: Optional[Task] = None) -> List[Task]:
        """The waiting tasks of a group, and with ``owned`` those that cannot be claimed now too. ``after`` is the last task of
        the page before."""
        place = after and f"{after.timespec}~{after.origin}{'~keyed' if after.key or after.priority else ''}"
        path = query("/store/group/" + part(group), limit=limit, owned=owned, after=place)
        return [_task(task) for task in self._http.read(path)]

    def document(self, collection: str, key: str) -> Document:
        """A document. Raises NotFoundError."""
        return _document(self._http.read(f"/store/document/{part(collection)}/{part(key)}"))

    def documents(self, collection: str, *, prefix: str = "", after: Optional[str] = None, limit: int = 0) -> List[Document]:
        """The documents of a collection by key."""
        path = query("/store/documents/" + part(collection), prefix=prefix, after=after, limit=limit)
        return [_document(document) for document in self._http.read(path)]

    def changes(
        self, *, after: Optional[str] = None, groups: Sequence[str] = (), collections: Sequence[str] = ()
    ) -> Events:
        """Durable commits as (position, event, data), once and in order, until the stream ends."""
        path = query("/store/changes", after=after, group=list(groups), collection=list(collections))
        return self._http.events(path)


class HeldTask:
    """A claim that is renewed in the background. ``lost`` is set when it has ended otherwise."""

    def __init__(self, store: Store, task: Task, lease: float) -> None:
        self._store = store
        self._lease = lease
        self._stopped = threading.Event()
        self.task = task
        self.lost = threading.Event()
        self._thread = threading.Thread(target=self._renew, name=f"millrace-renew-{task.id}", daemon=True)
        self._thread.start()

    def _renew(self) -> None:
        while not self._stopped.wait(self._lease / 3):
            try:
                self.task = self._store.renew(self.task, self._lease)
            except ConflictError:
                self.lost.set()
                return
            except Exception:
                # The next renewal may succeed before the lease ends.
                continue

    def _end(self) -> None:
        self._stopped.set()
        self._thread.join()

    def stop(self) -> Task:
        """Ends the renewals, and returns the task as it is now, for the transaction that finishes it."""
        self._end()
        return self.task
