"""What is raised instead of an approval. The text of each is what the model should get."""

from __future__ import annotations


class AskError(Exception):
    """An ask did not bring what the tool asked for."""


class Denied(AskError):
    """A person said no."""

    def __init__(self, reason: str | None = None) -> None:
        # adk-stream and its emulator know a denial by these words.
        super().__init__("Denied" if reason is None else f"Denied: {reason}")
        self.reason = reason


class TimedOut(AskError):
    """Nobody answered in time."""

    def __init__(self) -> None:
        super().__init__("Approval request timed out")


class Cancelled(AskError):
    """The call is not waited for any more: the user stopped it, or wrote something else."""

    def __init__(self, reason: str | None = None) -> None:
        super().__init__("Cancelled" if reason is None else f"Cancelled: {reason}")
        self.reason = reason


class Failed(AskError):
    """The page ran the tool, and it went wrong there."""


class NotConnected(AskError):
    """adk-stream could not be reached, or does not know the key or the call."""


class Refused(AskError):
    """adk-stream does not take the question as it is, or gave an answer that is not understood."""
