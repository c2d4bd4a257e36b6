"""Graphs of commands, queue tasks and jobs."""

import time
from datetime import datetime, timedelta
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._http import Transport, part, query
from ._why import timed_out
from .jobs import LONGEST_WAIT, duration, moment

SETTLED = ("finished", "failed", "killed", "skipped", "blocked")


class Node:
    """A node of a graph that is being built, or after ``Graph.run`` a node of the server, with an ``id``."""

    def __init__(self, name: str, metadata: Dict[str, Any], data: Dict[str, Any]) -> None:
        self.name = name
        self.metadata = metadata
        self.data = data
        self.id: Optional[str] = None


class Graph:
    """Builds a graph, which is then added to the server in one step."""

    def __init__(self, graphs: "Graphs") -> None:
        self._graphs = graphs
        self.nodes: List[Node] = []

    def node(
        self,
        type: str,
        data: Mapping[str, Any],
        *,
        name: Optional[str] = None,
        parents: Sequence[Node] = (),
        after: Sequence[Node] = (),
        branch: Optional[str] = None,
        always: bool = False,
    ) -> Node:
        """Adds a node of any type with the data of docs/graph.md. It runs when ``parents`` and ``after`` have finished."""
        local = f"n{len(self.nodes)}"
        metadata: Dict[str, Any] = {"type": type, "local": local}
        if name is not None:
            metadata["name"] = name
        if parents:
            metadata["parents"] = ["local:" + self._local(parent) for parent in parents]
        if after:
            metadata["after"] = ["local:" + self._local(one) for one in after]
        if branch is not None:
            metadata["branch"] = branch
        if always:
            metadata["always"] = True
        node = Node(name or local, metadata, dict(data))
        self.nodes.append(node)
        return node

    def _local(self, node: Node) -> str:
        if node not in self.nodes:
            raise ValueError(f"the node {node.name} belongs to another graph")
        return str(node.metadata["local"])

    def command(self, command: str, *args: str, data: Optional[Mapping[str, Any]] = None, **options: Any) -> Node:
        """Adds a command with arguments. ``options``: those of ``node``."""
        return self.node("command", {"command": command, "args": [*args], **(data or {})}, **options)

    def shell(self, command: str, data: Optional[Mapping[str, Any]] = None, **options: Any) -> Node:
        """Adds a shell command. ``options``: those of ``node``."""
        return self.node("shell command", {"command": command, **(data or {})}, **options)

    def run(self, **options: Any) -> List[str]:
        """Adds the graph to the server, whole or not at all, and returns the ids of its nodes. It runs by itself.
        ``delay`` to ``unique_period``, and a lost answer: see ``Graphs.add``."""
        made = self._graphs.add([{"metadata": node.metadata, "data": node.data} for node in self.nodes], **options)
        for node, metadata in zip(self.nodes, made):
            node.id = metadata["id"]
        return [str(metadata["id"]) for metadata in made]


class Graphs:
    """The graph of a server. Safe for use by several threads."""

    def __init__(self, transport: Transport) -> None:
        self._http = transport

    def build(self) -> Graph:
        """A new graph, to which nodes are added."""
        return Graph(self)

    def add(
        self,
        nodes: Sequence[Mapping[str, Any]],
        *,
        delay: Union[int, float, timedelta, None] = None,
        at: Optional[datetime] = None,
        unique: Optional[str] = None,
        unique_fields: Optional[str] = None,
        unique_scope: Optional[str] = None,
        unique_period: Optional[str] = None,
    ) -> List[Dict[str, Any]]:
        """Adds nodes in the form of docs/api.md, all or none, and returns their metadata. None of them starts before ``at``,
        or before ``delay`` is over.

        While nodes that were added with the same ``unique`` key have not ended, nothing is added, and the answer is those
        nodes, each with ``"duplicate": True``. ``unique_fields`` names keys of data, separated by commas, whose values make
        the key instead. ``unique_scope``: ``unfinished`` or ``queued``; ``unique_period``: how long
        the key is held instead, for example ``1d``. A lost answer is an OutcomeUnknownError; with a key the request is
        repeated.
        """
        path = query(
            "/v1/nodes",
            delay=None if delay is None else duration(delay),
            at=None if at is None else moment(at),
            unique=unique,
            unique_fields=unique_fields,
            unique_scope=unique_scope,
            unique_period=unique_period,
        )
        once = unique is not None or unique_fields is not None
        return list(self._http.json("POST", path, [dict(node) for node in nodes], repeatable=once))

    def get(self, id: str) -> Dict[str, Any]:
        """The metadata of a node; without its version in the answer of a standby."""
        return dict(self._http.read("/v1/nodes/" + part(id)))

    def list(self, **filters: Any) -> Iterator[Dict[str, Any]]:
        """The metadata of nodes by id, page by page. ``filters``: ``type``, ``state``, ``below``, ``text``."""
        page = self._http.read(query("/v1/nodes", start="", **filters))
        while True:
            yield from page["nodes"]
            pages = page["pagination"]
            if pages["next"] is None:
                return
            page = self._http.json("GET", query("/v1/nodes", start=pages["next"], pid=pages["pid"]))

    def wait(self, ids: Sequence[str], timeout: Optional[float] = None) -> Dict[str, str]:
        """Waits until all nodes have ended or are blocked, and returns their states. Raises WaitTimeoutError."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONGEST_WAIT if end is None else min(LONGEST_WAIT, max(0.0, end - time.monotonic()))
            path = query("/v1/scheduler/wait", id=",".join(ids), timeout=f"{left:.3f}", until="settled")
            states = dict(self._http.json("GET", path, silence=left))
            left_over = [id for id, state in states.items() if state not in SETTLED]
            if not left_over:
                return states
            if end is not None and time.monotonic() >= end:
                raise timed_out(self._http, f"nodes have not ended in {timeout:g} s: {states}", "node", left_over[0])

    def follow(self, ids: Sequence[str]) -> Iterator[Tuple[str, str]]:
        """The states of the nodes, first as they are and then as they change, until all have ended or are blocked."""
        seen: Dict[str, str] = {}
        left = set(ids)
        for _, _, message in self._http.events(query("/v1/events", metadata="state")):
            for node in message.get("nodes", message.get("changed", [])):
                id, state = node["id"], node["state"]
                if id in ids and seen.get(id) != state:
                    seen[id] = state
                    yield id, state
                    (left.discard if state in SETTLED else left.add)(id)
            if not left:
                return

    def data(self, id: str, key: str) -> Any:
        """A value of a node: text, of all its pages, or JSON."""
        path = f"/v1/nodes/{part(id)}/data/{part(key)}"
        answer = self._http.read(path)
        value = answer["data"]
        pages: Optional[Dict[str, Any]] = answer.get("pagination")
        while isinstance(value, str) and pages is not None and pages.get("next") is not None:
            answer = self._http.read(query(path, start=pages["next"], pid=pages["pid"]))
            value += answer["data"]
            if answer.get("growing"):
                break
            pages = answer.get("pagination")
        return value

    def output(self, id: str) -> str:
        """What a command has written to its standard output so far."""
        return str(self.data(id, "stdout"))

    def put(self, id: str, key: str, value: Any) -> None:
        """Sets a value of a node."""
        self._http.json("PUT", f"/v1/nodes/{part(id)}/data/{part(key)}", {"value": value})

    def retry(self, id: str) -> Dict[str, Any]:
        """Offers a failed or killed node again. Returns it."""
        return dict(self._http.json("POST", f"/v1/nodes/{part(id)}/retry", repeatable=False))

    def kill(self, ids: Union[str, Sequence[str]], *, signal: str = "TERM", grace: float = 5) -> Dict[str, str]:
        """Starts to kill nodes. Returns their states."""
        chosen = ids if isinstance(ids, str) else ",".join(ids)
        return dict(self._http.json("PUT", query("/v1/scheduler/kill", id=chosen, signal=signal, grace=grace)))

    def remove(self, id: str, *, below: Optional[bool] = None) -> int:
        """Removes a node, with ``below=True`` all nodes below it too. Returns how many."""
        return int(self._http.json("DELETE", query(f"/v1/nodes/{part(id)}", below=below), repeatable=False)["removed"])
