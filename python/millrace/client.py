"""The client: one object for all parts of a server."""

import os
from typing import Any, Dict, Optional, Union

from ._http import Transport, read_secret, trusted
from .graphs import Graphs
from .jobs import Jobs
from .queues import Queues
from .schedules import Schedules
from .store import Store

DEFAULT_ADDRESS = "http://127.0.0.1:8048"


class Cluster:
    """What the server knows of clusters, to read. Locks are taken through the library for Java; a claim of the task store is
    a lock with a lease and a fencing token too."""

    def __init__(self, transport: Transport) -> None:
        self._http = transport

    def locks(self) -> Any:
        """The locks, as ``GET /cluster/locks`` shows them."""
        return self._http.json("GET", "/cluster/locks")

    def members(self) -> Any:
        """The members, as ``GET /cluster/members`` shows them."""
        return self._http.json("GET", "/cluster/members")


class Client:
    """A client of a server. Safe for use by several threads; connections are kept until ``close``.

    ``address``: otherwise the environment variable MILLRACE_SERVER, or http://127.0.0.1:8048. A path in it is kept.
    ``token`` or ``token_file``: the credentials, a key of a principal or the token of the server; otherwise MILLRACE_TOKEN.
    ``api_key`` or ``api_key_file``: the secret of the job API, if it has its own; otherwise MILLRACE_API_KEY.
    ``timeout``: for how many seconds the server may be silent, above 0. A wait has this time in addition.
    ``retry_for``: for how many seconds a request that can be repeated is repeated, while the server cannot be reached or is
    not ready; 0 for never. ``certificates``: a file with certificates to trust instead of the system's, for example that of
    an authority of one's own; otherwise the file that MILLRACE_CERTIFICATES names.
    ``client_id``: the owner of what this client claims in the task store; drawn at random without one.
    ``stale``: for how many seconds, at most 60, others may have written what a read does not have yet. Reads of the store, of
    queues and their tasks, of jobs, of nodes and of schedules are then sent to all addresses in turn, and never have less
    than this client has read or changed. None: every read has all that was acknowledged before.
    """

    def __init__(
        self,
        address: Optional[str] = None,
        *,
        token: Optional[str] = None,
        token_file: Union[str, "os.PathLike[str]", None] = None,
        api_key: Optional[str] = None,
        api_key_file: Union[str, "os.PathLike[str]", None] = None,
        timeout: float = 30,
        retry_for: float = 30,
        certificates: Union[str, "os.PathLike[str]", None] = None,
        client_id: Optional[int] = None,
        stale: Optional[float] = None,
    ) -> None:
        self._http = Transport(
            address or os.environ.get("MILLRACE_SERVER") or DEFAULT_ADDRESS,
            read_secret(token, token_file, "MILLRACE_TOKEN"),
            read_secret(api_key, api_key_file, "MILLRACE_API_KEY"),
            timeout,
            retry_for,
            trusted(certificates),
            stale,
        )
        self.store = Store(self._http, Store.random_client_id() if client_id is None else client_id)
        self.jobs = Jobs(self._http)
        self.queues = Queues(self._http)
        self.graphs = Graphs(self._http)
        self.schedules = Schedules(self._http)
        self.cluster = Cluster(self._http)

    @property
    def address(self) -> str:
        """The address of the server."""
        return self._http.address

    def health(self) -> Dict[str, Any]:
        """How the server is, as ``GET /health`` shows it."""
        return dict(self._http.json("GET", "/health"))

    def close(self) -> None:
        """Closes the kept connections. The client can still be used, and then keeps none."""
        self._http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
