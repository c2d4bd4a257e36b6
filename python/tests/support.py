"""A server for the tests, as a process of its own that can be killed."""

import json
import os
import re
import signal
import subprocess
import threading
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
        self._reader: Optional[threading.Thread] = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = json.loads(os.environ["MILLRACE_TEST_SERVER"])
        command += ["up", "--port", str(self.port), "--data", str(self.folder / "data")]
        command += ["--config", str(self.settings), *self.arguments]
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=self.folder)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            self.close()
            raise AssertionError(f"the server did not start: {line}{(self.folder / 'server.log').read_text()}")
        self.port = int(found.group(1))
        # What it prints later must not fill the pipe.
        self._reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self._reader.start()

    def _ended(self) -> None:
        self.process.wait()
        if self._reader is not None:
            self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill(self) -> None:
        """Ends it by signal 9."""
        self.process.send_signal(signal.SIGKILL)
        self._ended()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self._ended()


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
