"""What the harness knows of a peer: how it is started and killed, what a page sends to it, and what its
responses say of a call."""

import enum
from dataclasses import dataclass
from typing import Any, Protocol

# The last word of every answer that follows a payment.
LAST_WORD = "Done."


class Outcome(enum.Enum):
    """What a page shows of the call."""

    # There is no such call.
    MISSING = "missing"
    # The question can be answered.
    OPEN = "open"
    # Answered, without a result yet.
    RUNNING = "running"
    DONE = "done"
    DENIED = "denied"
    FAILED = "failed"
    # The peer says that nobody knows whether it ran.
    UNKNOWN = "unknown"


OVER = {Outcome.DONE, Outcome.DENIED, Outcome.FAILED, Outcome.UNKNOWN}


@dataclass(frozen=True)
class View:
    """What a page shows that is loaded now."""

    outcome: Outcome
    # What the agent said after the call.
    text: str = ""
    # Whether the peer says that the turn is still at work.
    is_running: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the turn has come to its end: the call has an outcome, and the agent has answered."""
        if self.is_running or self.outcome not in OVER:
            return False
        text = self.text.strip()
        return text.endswith(LAST_WORD) if self.outcome is Outcome.DONE else bool(text)


@dataclass(frozen=True)
class Request:
    """An HTTP request, as a page sends it. Sent again, it is the same bytes."""

    path: str
    body: Any
    method: str = "POST"


@dataclass(frozen=True)
class Question:
    """A question that a page shows, with what the page needs to answer it."""

    chat: str
    content: Any


class Peer(Protocol):
    """A server with a tool that needs an approval."""

    name: str
    # The release that runs, and how it is set up, with its documentation's advice for durability.
    version: str
    setup: str
    # How long it may take to continue by itself after a restart, in seconds.
    recovery: float

    def start(self) -> None:
        """Starts it, or starts it again where it was, and waits until it answers."""

    def kill(self) -> None:
        """Kills the server that pages talk to, with SIGKILL."""

    def stop(self) -> None:
        """Ends everything that `start` began."""

    def url(self, person: int) -> str:
        """Where a person's page sends its requests."""

    def asking(self, chat: str) -> Request:
        """A person's message: "Pay CHAT". Its turn stops at the question."""

    def view(self, chat: str) -> tuple[View, Question | None]:
        """What a page shows that is loaded now, and the question that is open."""

    def answering(self, question: Question, approve: bool) -> Request:
        """An answer, as the page sends it when a person clicks."""

    def stated(self, body: str) -> Outcome | None:
        """What a response to an answer, or as much as came of it, says of the call."""

    def continuing(self, chat: str) -> Request | None:
        """What its documentation says continues a turn that was interrupted, if there is anything."""
