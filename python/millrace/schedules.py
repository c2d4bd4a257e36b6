"""Schedules of queue tasks, jobs and graphs."""

from typing import Any, Dict, Iterator, List, Mapping, Optional

from ._http import Transport, part, query


class Schedules:
    """Schedules of a server, by name. Safe for use by several threads."""

    def __init__(self, transport: Transport) -> None:
        self._http = transport

    @staticmethod
    def _path(name: str) -> str:
        return "/schedules/" + part(name)

    def put(self, name: str, **fields: Any) -> Dict[str, Any]:
        """Creates or changes a schedule with the fields of docs/schedules.md, for example
        ``times=[{"cron": "30 2 * * *"}], zone="Europe/Berlin", target={"queue": …, "params": …}``. Returns it."""
        return dict(self._http.json("PUT", self._path(name), fields))

    create = put

    def get(self, name: str) -> Dict[str, Any]:
        """A schedule with its next times and last runs."""
        return dict(self._http.read(self._path(name)))

    def list(self, prefix: str = "", *, paused: Optional[bool] = None) -> Iterator[Dict[str, Any]]:
        """The schedules by name, page by page."""
        after: Optional[str] = None
        while True:
            page = self._http.read(query("/schedules", prefix=prefix or None, paused=paused, after=after))
            yield from page["schedules"]
            after = page["next"]
            if after is None:
                return

    def next(self, name: str, count: int = 10) -> List[str]:
        """The next times."""
        return list(self._http.read(query(self._path(name) + "/next", count=count))["next"])

    def preview(self, schedule: Mapping[str, Any], count: int = 10) -> List[str]:
        """The next times of a schedule that is not stored."""
        return list(self._http.json("POST", query("/schedules/preview", count=count), dict(schedule))["next"])

    def pause(self, name: str, note: str = "") -> Dict[str, Any]:
        """Pauses a schedule. Returns it."""
        return dict(self._http.json("POST", self._path(name) + "/pause", {"note": note} if note else {}))

    def resume(self, name: str) -> Dict[str, Any]:
        """Resumes a schedule. Returns it."""
        return dict(self._http.json("POST", self._path(name) + "/resume", {}))

    def run(self, name: str) -> Dict[str, Any]:
        """Starts a run at once. Returns the run. A lost answer is an OutcomeUnknownError."""
        return dict(self._http.json("POST", self._path(name) + "/run", {}, repeatable=False))

    def delete(self, name: str) -> None:
        """Deletes a schedule. Its active runs go on."""
        self._http.json("DELETE", self._path(name), repeatable=False)
