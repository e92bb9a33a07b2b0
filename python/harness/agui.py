"""An AG-UI agent of a framework as a process, and adk-stream in front of it."""

import os
import pathlib
import subprocess
import sys
from contextlib import contextmanager

from front import Front, ended
from launcher import BYTECODE_CACHE, ROOT, free_port
from web_server import web_server

AGENTS = ROOT / "python/agui/agents"


class Agent:
    """Where an agent is, and what it has paid."""

    def __init__(self, url, payments):
        self.url = url
        self.payments = payments

    def paid(self):
        """The amounts that it has paid."""
        return [int(line) for line in self.payments.read_text().split()]


def interpreter(name):
    """The environment of a name, which is made if it is not there."""
    command = [str(ROOT / "scripts/python-env"), name]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return made.stdout.strip()


@contextmanager
def agent(directory, module, path="/", *, port=0, python=sys.executable, **environment):
    """Starts the agent of a module, and waits until it answers."""
    payments = pathlib.Path(directory) / "payments"
    payments.touch()
    port = port or free_port()
    command = [python, "-m", "uvicorn", f"{module}:app", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--log-level", "warning"]
    settings = {"PAYMENTS": str(payments), **BYTECODE_CACHE, **environment}
    variables = {**os.environ, **settings}
    url = f"http://127.0.0.1:{port}"
    with web_server(command, url, cwd=AGENTS, env=variables):
        yield Agent(url + path, payments)


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


def agui_front(*arguments, **settings):
    """adk-stream before an AG-UI agent, ended at the end."""
    return ended(AgUiFront(*arguments, **settings))
