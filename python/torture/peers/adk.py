"""ADK: `adk api_server`, a tool with `require_confirmation`, sessions in SQLite."""

import pathlib
import signal
import subprocess
from typing import Any

from adk import CONFIRMATION, USER, Adk, confirmations, response
from emulator import Emulator
from exchange import fetched
from launcher import ROOT
from peer import Outcome, Question, Request, View
from peers.gemini import script
from peers.ui_messages import chunks

APP = "payer"
AGENTS = ROOT / "python/torture/servers/adk"
PATH = f"/apps/{APP}/users/{USER}/sessions"

# What ADK puts in the place of a result.
WAITS = "requires confirmation"
REJECTED = "rejected"


def environment() -> str:
    """The interpreter of the environment with ADK."""
    command = [str(ROOT / "scripts/python-env"), "adk"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def parts(event: dict[str, Any]) -> list[dict[str, Any]]:
    return (event.get("content") or {}).get("parts") or []


def result_of(part: dict[str, Any]) -> Outcome | None:
    """The outcome that a response of the tool states."""
    found = part.get("functionResponse")
    if not found or found["name"] != "pay":
        return None
    error = (found.get("response") or {}).get("error")
    if error is None:
        return Outcome.DONE
    if WAITS in error:
        return None
    return Outcome.DENIED if REJECTED in error else Outcome.FAILED


def view_of(events: list[dict[str, Any]]) -> tuple[View, str | None]:
    """What a page shows of a session, and the id of the confirmation that is open."""
    outcome, text = Outcome.MISSING, ""
    answered = set()
    for event in events:
        for part in parts(event):
            if (call := part.get("functionCall")) and call["name"] == "pay":
                outcome, text = Outcome.RUNNING, ""
            elif (result := result_of(part)) is not None:
                outcome, text = result, ""
            elif (found := part.get("functionResponse")) and found["name"] == CONFIRMATION:
                answered.add(found["id"])
            elif event.get("author") != "user" and not event.get("partial"):
                text += part.get("text") or ""
    waiting = [asked for asked in confirmations(events).values() if asked not in answered]
    if waiting:
        return View(Outcome.OPEN), waiting[0]
    return View(outcome, text), None


class AdkPeer:
    """A client of ADK's own routes."""

    name = "ADK, SQLite"
    setup = (
        "`adk api_server` with sessions in SQLite, an app with `ResumabilityConfig`, a tool with "
        "`require_confirmation`; a confirmation carries the id of its invocation"
    )
    recovery = 5.0

    def __init__(self, folder: pathlib.Path, emulator: Emulator, ledger: str) -> None:
        self.folder, self.emulator, self.ledger = folder, emulator, ledger
        self.python = environment()
        said = "import google.adk.version as found; print(found.__version__)"
        command = [self.python, "-c", said]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        self.version = f"google-adk {found.stdout.strip()}"
        self.adk: Adk | None = None

    @property
    def server(self) -> Adk:
        assert self.adk is not None
        return self.adk

    def url(self, person: int) -> str:
        url = self.server.url
        assert url is not None
        return url

    def start(self) -> None:
        if self.adk is None:
            self.adk = Adk(
                AGENTS,
                self.folder,
                self.emulator,
                python=self.python,
                LEDGER=self.ledger,
            )
        else:
            self.adk.begin()
        self.server.ready()

    def kill(self) -> None:
        self.server.end(signal.SIGKILL)

    def stop(self) -> None:
        if self.adk is not None and self.adk.process.poll() is None:
            self.kill()

    def run(self, chat: str, **body: Any) -> Request:
        names = {"appName": APP, "userId": USER, "sessionId": chat, "streaming": True}
        return Request("/run_sse", {**names, **body})

    def asking(self, chat: str) -> Request:
        script(self.emulator, chat)
        created = self.server.create(APP, sessionId=chat)
        assert created.status_code in (200, 409), created.text
        message = {"role": "user", "parts": [{"text": f"Pay {chat}"}]}
        return self.run(chat, newMessage=message)

    def events(self, chat: str) -> list[dict[str, Any]]:
        session = fetched(self.url(0), Request(f"{PATH}/{chat}", None, "GET"))
        return session["events"] if session else []

    def view(self, chat: str) -> tuple[View, Question | None]:
        events = self.events(chat)
        view, waiting = view_of(events)
        if waiting is None:
            return view, None
        asking = next(one for one in events if waiting in confirmations([one]).values())
        return view, Question(chat, (waiting, asking["invocationId"]))

    def answering(self, question: Question, approve: bool) -> Request:
        id, invocation = question.content
        answer = response(id, CONFIRMATION, {"confirmed": approve})
        message = {"role": "user", "parts": [answer]}
        return self.run(question.chat, newMessage=message, invocationId=invocation)

    def stated(self, body: str) -> Outcome | None:
        found = [result_of(part) for event in chunks(body) for part in parts(event)]
        return next((one for one in reversed(found) if one is not None), None)

    def continuing(self, chat: str) -> Request | None:
        """The invocation without a message, by which a stopped workflow is resumed."""
        events = self.events(chat)
        return self.run(chat, invocationId=events[-1]["invocationId"]) if events else None
