"""LangGraph with its checkpointer on PostgreSQL, `interrupt` and `Command(resume=…)`."""

import importlib.metadata
import signal
from typing import Any

from exchange import fetched
from peer import Outcome, Question, Request, View
from peers.process import Server
from peers.pydantic_ai import SERVERS, uvicorn
from peers.ui_messages import chunks


def outcome_of(text: str, status: str | None) -> Outcome:
    """The outcome that a tool's message states."""
    if status == "error":
        return Outcome.FAILED
    return Outcome.DENIED if text == "denied" else Outcome.DONE


class LangGraph:
    """A client of the routes in `servers/langgraph_server.py`."""

    name = "LangGraph, PostgreSQL"
    setup = (
        '`AsyncPostgresSaver` with `durability="sync"`, the effect after the `interrupt`, answers by the '
        "interrupt's id, runs that continue when their client leaves. LangGraph's own server, which "
        "queues the runs of a thread, needs a licence key with PostgreSQL, and was not run"
    )
    recovery = 5.0

    def __init__(self, database: str, ledger: str) -> None:
        versions = [
            f"{name} {importlib.metadata.version(name)}"
            for name in ("langgraph", "langgraph-checkpoint-postgres")
        ]
        self.version = ", ".join(versions)
        self.server = Server("langgraph")
        self.variables = {"DATABASE": database, "LEDGER": ledger}

    def url(self, person: int) -> str:
        return self.server.url

    def start(self) -> None:
        command = uvicorn("langgraph_server", self.server.port)
        self.server.start(command, self.variables, cwd=SERVERS)

    def kill(self) -> None:
        self.server.end(signal.SIGKILL)

    stop = kill

    def run(self, chat: str, **body: Any) -> Request:
        return Request(f"/threads/{chat}/runs/stream", body)

    def asking(self, chat: str) -> Request:
        # The id of the message is the page's, as in LangGraph's own client.
        message = {"role": "user", "id": f"user-{chat}", "content": f"Pay {chat}"}
        return self.run(chat, input={"messages": [message]})

    def view(self, chat: str) -> tuple[View, Question | None]:
        state = fetched(self.server.url, Request(f"/threads/{chat}/state", None, "GET"))
        if state is None:
            return View(Outcome.MISSING), None
        results = [place for place, one in enumerate(state["messages"]) if one["type"] == "tool"]
        if state["interrupts"]:
            return View(Outcome.OPEN), Question(chat, state["interrupts"][0])
        if not results:
            return View(Outcome.RUNNING if state["next"] else Outcome.MISSING), None
        result = state["messages"][results[-1]]
        after = state["messages"][results[-1] + 1 :]
        text = "".join(one["text"] for one in after)
        outcome = outcome_of(result["text"], result["status"])
        return View(outcome, text, is_running=bool(state["next"])), None

    def answering(self, question: Question, approve: bool) -> Request:
        return self.run(question.chat, command={"resume": {question.content: approve}})

    def stated(self, body: str) -> Outcome | None:
        said = None
        for chunk in chunks(body):
            if "tool" in chunk:
                said = outcome_of(chunk["tool"], chunk["status"])
        return said

    def continuing(self, chat: str) -> Request | None:
        """A run without an input continues from the last checkpoint."""
        return self.run(chat, input=None)
