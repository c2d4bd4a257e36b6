"""A server for the tests, as a process of its own that can be killed."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Dict, Optional, Union

TYPES = ("echo", "letter", "slow", "polled", "flaky", "big", "busy", "closing", "thumbnail", "report")

CONFIGURATION = """
jobs:
  stuck-after: 2s
  max-returns: 1000
  types:
""" + "".join(f"    {type}: {{description: a type}}\n" for type in TYPES)


class Server:
    """A server on a folder. MILLRACE_TEST_SERVER is its command line as JSON."""

    def __init__(self, folder: Union[str, Path], *arguments: str, configuration: str = CONFIGURATION) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = self.folder / "settings.yaml"
        self.settings.write_text(configuration, encoding="utf-8")
        self.arguments = arguments
        self.port = 0
        self.scheme = "http"
        self.start()

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = json.loads(os.environ["MILLRACE_TEST_SERVER"])
        command += ["up", "--port", str(self.port), "--data", str(self.folder / "data")]
        command += ["--config", str(self.settings), *self.arguments]
        # Files, since a pipe would have to be read, and stay open while any child of the server lives.
        printed = self.folder / "server.out"
        with open(self.folder / "server.log", "ab") as log, open(printed, "wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=log, cwd=self.folder)

        def is_ready() -> bool:
            return "\n" in printed.read_text() or self.process.poll() is not None

        eventually(is_ready, 120)
        found = re.search(r"(https?)://127\.0\.0\.1:(\d+)", printed.read_text())
        if found is None:
            self.close()
            raise AssertionError(f"the server did not start: {(self.folder / 'server.log').read_text()}")
        self.scheme, self.port = found.group(1), int(found.group(2))

    def kill(self) -> None:
        """Ends it by signal 9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()


_shared: Dict[str, Server] = {}


def server(name: str = "server", make: Optional[Callable[[Path], Server]] = None) -> Server:
    """A server that several tests share. It ends with the process."""
    if name not in _shared:
        folder = Path(os.environ["MILLRACE_TEST_FOLDER"]) / name
        _shared[name] = Server(folder) if make is None else make(folder)
    return _shared[name]


def close_all() -> None:
    for one in _shared.values():
        one.close()
    _shared.clear()


def eventually(check: Callable[[], bool], seconds: float = 20) -> None:
    """Looks again and again, and fails after so many seconds."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            raise AssertionError("it has not happened in time")
        time.sleep(0.02)
