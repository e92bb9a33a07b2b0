"""Pages on `useChat`: what they send, and how they show a call. For the peers that speak the AI SDK's UI
message stream."""

import copy
import json
from typing import Any

from exchange import fetched
from peer import Outcome, Question, Request, View

Message = dict[str, Any]

OUTCOMES = {
    "input-streaming": Outcome.RUNNING,
    "input-available": Outcome.RUNNING,
    "approval-requested": Outcome.OPEN,
    "approval-responded": Outcome.RUNNING,
    "output-available": Outcome.DONE,
    "output-denied": Outcome.DENIED,
    "output-error": Outcome.FAILED,
}

# What each chunk of a stream says of a call.
STATEMENTS = {
    "tool-output-available": Outcome.DONE,
    "tool-output-denied": Outcome.DENIED,
    "tool-output-error": Outcome.FAILED,
}

# How adk-stream begins the error of a call whose outcome nobody knows.
UNKNOWN = "The outcome is unknown"


def is_call(part: dict[str, Any]) -> bool:
    return part["type"] == "tool-pay" or part.get("toolName") == "pay"


def outcome_of(part: dict[str, Any]) -> Outcome:
    outcome = OUTCOMES[part["state"]]
    is_unknown = outcome is Outcome.FAILED and part["errorText"].startswith(UNKNOWN)
    return Outcome.UNKNOWN if is_unknown else outcome


def chunks(body: str) -> list[dict[str, Any]]:
    """The chunks of a stream, the last of which may have been cut."""
    found = []
    for line in body.splitlines():
        data = line.removeprefix("data: ")
        if line.startswith("data: ") and data != "[DONE]":
            try:
                found.append(json.loads(data))
            except ValueError:
                break
    return found


def stated(body: str) -> Outcome | None:
    """The last thing that a stream says of a call."""
    said = None
    for chunk in chunks(body):
        if (statement := STATEMENTS.get(chunk["type"])) is not None and not chunk.get(
            "preliminary"
        ):
            is_unknown = chunk.get("errorText", "").startswith(UNKNOWN)
            said = Outcome.UNKNOWN if is_unknown else statement
    return said


def view_of(messages: list[Message], is_running: bool = False) -> View:
    """What a page shows of these messages."""
    parts = [part for one in messages if one["role"] == "assistant" for part in one["parts"]]
    places = [place for place, part in enumerate(parts) if is_call(part)]
    if not places:
        return View(Outcome.MISSING, is_running=is_running)
    outcomes = [outcome_of(parts[place]) for place in places]
    outcome = Outcome.OPEN if Outcome.OPEN in outcomes else outcomes[-1]
    after = parts[places[-1] + 1 :]
    text = "".join(part["text"] for part in after if part["type"] == "text")
    return View(outcome, text, is_running)


def answered(messages: list[Message], approve: bool) -> list[Message]:
    """The messages, with an answer to the first question that is open."""
    copied = copy.deepcopy(messages)
    for message in copied:
        for part in message["parts"]:
            if is_call(part) and part["state"] == "approval-requested":
                part["state"] = "approval-responded"
                part["approval"] = {**part["approval"], "approved": approve}
                return copied
    raise AssertionError("no question is open")


class UseChat:
    """What the peers with such pages have in common: `POST /api/chat`, and the stored chat."""

    def url(self, person: int) -> str:
        raise NotImplementedError

    def request(self, chat: str, messages: list[Message], trigger: str) -> Request:
        """What `useChat` sends: the whole history, and what is continued."""
        body: dict[str, Any] = {"id": chat, "messages": messages, "trigger": trigger}
        if messages[-1]["role"] == "assistant":
            body["messageId"] = messages[-1]["id"]
        return Request("/api/chat", body)

    def asking(self, chat: str) -> Request:
        message = {
            "id": f"user-{chat}",
            "role": "user",
            "parts": [{"type": "text", "text": f"Pay {chat}"}],
        }
        return self.request(chat, [message], "submit-message")

    def stored(self, chat: str) -> dict[str, Any] | None:
        """The chat as a page loads it."""
        return fetched(self.url(0), Request(f"/api/chat/{chat}", None, "GET"))

    def view(self, chat: str) -> tuple[View, Question | None]:
        stored = self.stored(chat)
        if stored is None:
            return View(Outcome.MISSING), None
        view = view_of(stored["messages"], stored.get("status") == "running")
        is_open = view.outcome is Outcome.OPEN
        return view, Question(chat, stored["messages"]) if is_open else None

    def answering(self, question: Question, approve: bool) -> Request:
        return self.request(question.chat, answered(question.content, approve), "submit-message")

    def stated(self, body: str) -> Outcome | None:
        return stated(body)

    def continuing(self, chat: str) -> Request | None:
        """`sendMessage()` without a message sends again what the page has."""
        stored = self.stored(chat)
        return self.request(chat, stored["messages"], "submit-message") if stored else None
