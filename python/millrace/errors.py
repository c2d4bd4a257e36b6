"""The exceptions of this package."""

from typing import Any, Dict, List, Optional


class MillraceError(Exception):
    """The base of all exceptions of this package."""


class ServerError(MillraceError):
    """The server refused a request. The message is the server's.

    ``status`` is the HTTP status, ``body`` the answer as JSON or text.
    """

    def __init__(self, status: int, message: str, body: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class BadRequestError(ServerError):
    """The request is invalid (400, 405, 413 and others that would be refused again)."""


class AuthenticationError(ServerError):
    """The credentials are missing or wrong (401), or do not allow the request (403)."""


class NotFoundError(ServerError):
    """What the request names does not exist (404)."""


class ConflictError(ServerError):
    """The request does not fit the present state (409, 410, 412).

    ``reasons`` has one entry for each reason of a refused transaction, with ``kind`` and what it names.
    """

    @property
    def reasons(self) -> List[Any]:
        return list(self.body.get("refusal", [])) if isinstance(self.body, dict) else []


class UnavailableError(ServerError):
    """The server cannot serve the request now (503), for example because the store is full."""


class ConnectionFailedError(MillraceError):
    """The server could not be reached in the time for retries. Nothing was changed."""


class CertificateError(MillraceError):
    """The certificate of the server is not trusted, or is for another name. Nothing was sent."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            f"the certificate of {address} is not trusted: {reason}; a file of certificates to trust is given by"
            " certificates=, or by the environment variable MILLRACE_CERTIFICATES"
        )


class OutcomeUnknownError(MillraceError):
    """The answer was lost, so the request may have been carried out, and it cannot be repeated safely."""


class WaitTimeoutError(MillraceError, TimeoutError):
    """What was waited for did not happen in time.

    ``why`` is what ``GET /why`` says of the job, or of the first task or node that has not ended: ``kind``, ``id``, ``status``,
    ``waiting`` and ``reasons``. None if the server did not say so within two seconds.
    """

    def __init__(self, message: str, why: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.why = why


class JobFailedError(MillraceError):
    """A job that was waited for has failed. ``job`` is the job, ``logs`` what its worker reported."""

    def __init__(self, message: str, job: Any, logs: Optional[str] = None) -> None:
        super().__init__(message)
        self.job = job
        self.logs = logs


class WorkerRefusedError(MillraceError):
    """The server refused a worker that it had never admitted, for example for a wrong token."""


class WebSocketClosedError(MillraceError):
    """A WebSocket has been closed: ``code`` and ``reason`` are those of the server, or 1006 if the connection broke."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}".rstrip())
        self.code = code
        self.reason = reason


class JobFailure(Exception):
    """Raised by a handler to say how its job failed.

    ``code``: 1 to 64 characters out of ``A-Z a-z 0-9 . _ -`` that ``retry_except`` of the type can name.
    ``retry_after``: the next attempt begins after so many seconds. ``snooze``: the job is put off by so many seconds,
    and has not failed. ``logs``: kept with the failure.
    """

    def __init__(
        self,
        info: str,
        *,
        code: Optional[str] = None,
        retry_after: Optional[float] = None,
        snooze: Optional[float] = None,
        logs: Optional[str] = None,
    ) -> None:
        super().__init__(info)
        self.info = info
        self.code = code
        self.retry_after = retry_after
        self.snooze = snooze
        self.logs = logs
