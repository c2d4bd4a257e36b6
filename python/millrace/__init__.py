"""Client and worker for Millrace, a fault-tolerant system for running work on many machines."""

from .client import Client, Cluster
from .errors import (
    AuthenticationError,
    BadRequestError,
    CertificateError,
    ConflictError,
    ConnectionFailedError,
    JobFailedError,
    JobFailure,
    MillraceError,
    NotFoundError,
    OutcomeUnknownError,
    ServerError,
    UnavailableError,
    WaitTimeoutError,
    WebSocketClosedError,
    WorkerRefusedError,
)
from .graphs import Graph, Graphs, Node
from .jobs import Jobs, SubmittedJob
from .kinds import JobKind
from .queues import Queues
from .schedules import Schedules
from .store import Commit, Document, HeldTask, Store, Task, Transaction
from .worker import JobContext, Worker

__version__ = "0.1.0.dev0"

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "CertificateError",
    "Client",
    "Cluster",
    "Commit",
    "ConflictError",
    "ConnectionFailedError",
    "Document",
    "Graph",
    "Graphs",
    "HeldTask",
    "JobContext",
    "JobFailedError",
    "JobFailure",
    "JobKind",
    "Jobs",
    "MillraceError",
    "Node",
    "NotFoundError",
    "OutcomeUnknownError",
    "Queues",
    "Schedules",
    "ServerError",
    "Store",
    "SubmittedJob",
    "Task",
    "Transaction",
    "UnavailableError",
    "WaitTimeoutError",
    "WebSocketClosedError",
    "Worker",
    "WorkerRefusedError",
]
