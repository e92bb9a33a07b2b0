"""A server process that is killed and started again at the same address."""

import pathlib
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from launcher import TIMEOUT, free_port, start
from web_server import wait_until_ready


class Server:
    """A process that listens on a port which it is given."""

    def __init__(self, name: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None
        self.log = pathlib.Path(tempfile.gettempdir()) / f"torture-{name}-{self.port}.log"

    def start(
        self, command: Sequence[str | pathlib.Path], variables: Mapping[str, str], **more
    ) -> None:
        """Starts it, and waits until it answers, whatever it answers."""
        assert self.process is None
        with self.log.open("ab") as log:
            settings = {"PYTHONDONTWRITEBYTECODE": "1", **variables}
            self.process = start(command, settings, stdout=log, stderr=log, **more)
        wait_until_ready(self.url, self.process, Printed(self.log))

    def end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(TIMEOUT)
            self.process = None


class Printed:
    """What a process has printed, for a message."""

    def __init__(self, log: pathlib.Path) -> None:
        self.log = log

    def __iter__(self):
        return iter(self.log.read_text(errors="replace").splitlines(keepends=True)[-20:])
