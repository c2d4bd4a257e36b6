"""Why something that was waited for has not happened."""

import threading
from typing import Any, Dict, List, Optional

from ._http import Transport, part, query
from .errors import WaitTimeoutError

# For how long the server may keep a caller whose wait is over already.
BOUND = 2.0


def timed_out(http: Transport, message: str, kind: str, id: Optional[str]) -> WaitTimeoutError:
    """The error for a wait that has ended in vain, with what the server says of the work with this id if it says so soon.
    Whatever fails meanwhile, it is this error."""
    answers: List[Dict[str, Any]] = []

    def ask() -> None:
        try:
            path = query("/why/" + part(str(id)), kind=kind)
            answers.append(dict(http.json("GET", path, silence=BOUND, retry_for=0)))
        except Exception:  # The wait has failed already, and that is what is reported.
            pass

    if id is not None:
        # A thread of its own, since connecting may take as long as the timeout of the client.
        asking = threading.Thread(target=ask, name="millrace-why", daemon=True)
        asking.start()
        asking.join(BOUND)
    if not answers:
        return WaitTimeoutError(message)
    why = answers[0]
    reasons = "; ".join(str(reason["message"]) for reason in why.get("reasons", []))
    return WaitTimeoutError(f"{message}; {kind} {id} is {why.get('status')}" + (f": {reasons}" if reasons else ""), why)
