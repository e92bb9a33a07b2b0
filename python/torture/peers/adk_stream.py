"""adk-stream itself: one server with SQLite, one with PostgreSQL, two with PostgreSQL."""

import os
import pathlib
import signal
import subprocess

from emulator import Emulator
from launcher import BINARY
from peer import Request
from peers.gemini import script
from peers.process import Server
from peers.ui_messages import UseChat

# Of two servers, the second takes over when the first one's lease has expired.
LEASE = 5


class AdkStream(UseChat):
    """adk-stream with an agent file: Gemini, and a tool that is one HTTP request."""

    def __init__(
        self,
        folder: pathlib.Path,
        emulator: Emulator,
        ledger: str,
        store: str,
        servers: int = 1,
        looks_up: bool = False,
    ) -> None:
        self.folder, self.emulator, self.store = folder, emulator, store
        kind = "PostgreSQL" if store.startswith("postgres") else "SQLite"
        more = (", two servers" if servers > 1 else "") + (", look-up" if looks_up else "")
        self.name = f"adk-stream, {kind}{more}"
        self.servers = [Server(f"adk-stream-{number}") for number in range(servers)]
        self.recovery = 10.0 if servers == 1 else 4.0 * LEASE
        self.file = folder / "adk-stream.toml"
        self.file.write_text(agent_file(ledger, looks_up))
        said = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True)
        self.version = said.stdout.split()[-1]
        has = "a `lookup`" if looks_up else "neither an idempotency header nor a look-up"
        self.setup = f"an agent file with an HTTP tool, which has {has}"

    def url(self, person: int) -> str:
        return self.servers[person % len(self.servers)].url

    def start(self) -> None:
        variables = {
            "GEMINI_API_KEY": "a-key",
            "ADK_STREAM_GEMINI_BASE_URL": self.emulator.url,
            "ADK_STREAM_STORE": self.store,
            "ADK_STREAM_LOG": "error",
        }
        if len(self.servers) > 1:
            variables |= {
                "ADK_STREAM_CLUSTER_KEY": "known-to-these-two",
                "ADK_STREAM_LEASE": str(LEASE),
            }
        for server in self.servers:
            if server.process is None:
                command = [str(BINARY), "serve", "--config", str(self.file)]
                command += ["--listen", f"127.0.0.1:{server.port}"]
                server.start(command, variables, cwd=self.folder)

    def kill(self) -> None:
        self.servers[0].end(signal.SIGKILL)

    def stop(self) -> None:
        for server in self.servers:
            server.end(signal.SIGKILL)

    def asking(self, chat: str) -> Request:
        script(self.emulator, chat)
        return super().asking(chat)

    def continuing(self, chat: str) -> Request | None:
        """Nothing is needed: the server continues by itself."""
        return None


def agent_file(ledger: str, looks_up: bool) -> str:
    lookup = f'lookup = {{ url = "{ledger}/{{$call}}" }}' if looks_up else ""
    return f"""
[agents.payer]
model = "gemini:gemini-2.5-flash"
tools = ["pay"]

[http.pay]
description = "Pays."
ask = "Pay {{{{input.to}}}}?"
input = {{ type = "object", properties = {{ to = {{ type = "string" }} }}, required = ["to"] }}
request = {{ method = "POST", url = "{ledger}", body = {{ to = "{{to}}", call = "{{$call}}" }} }}
{lookup}
"""


def sqlite(folder: pathlib.Path) -> str:
    return f"sqlite:{os.fspath(folder / 'chats.db')}"
