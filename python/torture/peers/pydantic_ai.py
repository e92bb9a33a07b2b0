"""pydantic-ai: deferred tools behind its adapter for the AI SDK's stream, with messages in SQLite."""

import importlib.metadata
import pathlib
import signal
import sys

from launcher import ROOT
from peers.process import Server
from peers.ui_messages import UseChat

SERVERS = ROOT / "python/torture/servers"


def uvicorn(module: str, port: int) -> list[str]:
    """The command that serves an app of this folder."""
    command = [sys.executable, "-m", "uvicorn", f"{module}:app", "--host", "127.0.0.1"]
    return [*command, "--port", str(port), "--log-level", "warning"]


class PydanticAi(UseChat):
    """A page on `useChat`, and `VercelAIAdapter`."""

    name = "pydantic-ai"
    setup = (
        "`requires_approval` behind `VercelAIAdapter`, with the history held by the server "
        "(`manage_message_history='server'`) and stored in `on_complete`. Its durable execution (DBOS, "
        "Temporal, Prefect) was not run"
    )
    recovery = 5.0

    def __init__(self, folder: pathlib.Path, ledger: str) -> None:
        self.version = importlib.metadata.version("pydantic-ai-slim")
        self.server = Server("pydantic-ai")
        self.variables = {"CHATS": str(folder / "chats.db"), "LEDGER": ledger}

    def url(self, person: int) -> str:
        return self.server.url

    def start(self) -> None:
        command = uvicorn("pydantic_ai_server", self.server.port)
        self.server.start(command, self.variables, cwd=SERVERS)

    def kill(self) -> None:
        self.server.end(signal.SIGKILL)

    stop = kill
