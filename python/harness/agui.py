"""An AG-UI agent of a framework as a process, and adk-stream in front of it."""

import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from front import Front, free_port
from launcher import ROOT, TIMEOUT

AGENTS = ROOT / "python/agui/agents"


class Agent:
    """Where an agent is, and what it has paid."""

    def __init__(self, url, payments):
        self.url = url
        self.payments = payments

    def paid(self):
        """The amounts that it has paid."""
        return [int(line) for line in self.payments.read_text().split()]


@contextmanager
def agent(directory, module, path="/"):
    """Starts the agent of a module, and waits until it answers."""
    payments = pathlib.Path(directory) / "payments"
    payments.touch()
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "uvicorn", f"{module}:app"),
            *("--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"),
        ],
        cwd=AGENTS,
        env={**os.environ, "PAYMENTS": str(payments), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said: list[str] = []
    output = process.stdout
    assert output is not None
    # A pipe that nobody reads stops who writes to it.
    threading.Thread(target=lambda: said.extend(output), daemon=True).start()
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, process, said)
        yield Agent(url + path, payments)
    finally:
        process.terminate()
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_ready(url, process, said, limit=4 * TIMEOUT):
    """Frameworks take seconds to import, and more on a machine that is busy."""
    end = time.monotonic() + limit
    while True:
        try:
            urllib.request.urlopen(url, timeout=TIMEOUT)
        except urllib.error.HTTPError:
            # It takes no GET, but it is there.
            return
        except OSError:
            pass
        else:
            return
        assert process.poll() is None, "the agent ended:\n" + "".join(said)
        assert time.monotonic() < end, "the agent does not answer:\n" + "".join(said)
        time.sleep(0.1)


class AgUiFront(Front):
    """adk-stream before an AG-UI agent, which it offers the tools of pages."""

    def __init__(self, agent, directory, **settings):
        self.file = pathlib.Path(directory) / "adk-stream.toml"
        self.file.write_text(
            f'[agents.remote]\npage-tools = {{ names = ["locate"], allow = ["locate"] }}\n'
            f'[agents.remote.ag-ui]\nurl = "{agent.url}"\n'
        )
        super().__init__(None, None, **settings)

    def serve(self, adk, app):
        return ["serve", "--config", str(self.file), "--agent", "remote"]


@contextmanager
def agui_front(*arguments, **settings):
    """adk-stream before an AG-UI agent, ended at the end."""
    server = AgUiFront(*arguments, **settings)
    try:
        yield server
    finally:
        server.client.close()
        if server.process.poll() is None:
            server.end()
