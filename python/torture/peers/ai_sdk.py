"""The AI SDK's own server: `streamText` in a route of Node's, with `web/torture/ai-sdk.js`."""

import json
import pathlib
import signal

from launcher import ROOT
from peers.process import Server
from peers.ui_messages import UseChat

FOLDER = ROOT / "web/torture"


class AiSdk(UseChat):
    """A page on `useChat`, and the route that the documentation has for it."""

    name = "AI SDK"
    setup = (
        "`streamText` with `toolApproval` and signed approvals, messages stored when a request comes and "
        "when it ends, the stream consumed on the server. `WorkflowAgent`, which the documentation "
        "recommends for durable agents, needs Vercel's workflow runtime and a build of its own, and was "
        "not run"
    )
    recovery = 5.0

    def __init__(self, folder: pathlib.Path, ledger: str) -> None:
        package = json.loads((ROOT / "web/node_modules/ai-7/package.json").read_text())
        self.version = f"ai {package['version']}"
        self.server = Server("ai-sdk")
        self.variables = {
            "PORT": str(self.server.port),
            "CHATS": str(folder / "chats"),
            "LEDGER": ledger,
        }

    def url(self, person: int) -> str:
        return self.server.url

    def start(self) -> None:
        self.server.start(["node", FOLDER / "ai-sdk.js"], self.variables)

    def kill(self) -> None:
        self.server.end(signal.SIGKILL)

    stop = kill
