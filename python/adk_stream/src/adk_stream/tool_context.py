"""What is needed of ADK's ToolContext."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from .errors import NotConnected


class State(Protocol):
    """The state of an ADK session."""

    def get(self, key: str, default: Any = None, /) -> Any:
        """The value of a key."""


class Session(Protocol):
    """An ADK session."""

    @property
    def id(self) -> str:
        """Its id."""


class ToolContext(Protocol):
    """ADK's ToolContext, which it gives to a tool that has a parameter for it."""

    @property
    def function_call_id(self) -> str | None:
        """The id of the call."""

    @property
    def state(self) -> State:
        """The state of the session."""

    @property
    def session(self) -> Session:
        """The session."""


# ADK makes a context for each run of a tool. A tool that is run again asks the same questions
# again, and they have to get the same numbers: so it is the run that counts, and not the call.
_asked: WeakKeyDictionary[ToolContext, int] = WeakKeyDictionary()


def next_ask(tool_context: ToolContext) -> int:
    """Which ask of its run this is, from 0."""
    nth = _asked.get(tool_context, 0)
    _asked[tool_context] = nth + 1
    return nth


def call_of(tool_context: ToolContext) -> str:
    """The id of the call."""
    call = tool_context.function_call_id
    if not call:
        raise NotConnected("there is no call to ask about: ask from inside a tool")
    return call


def chat_of(tool_context: ToolContext) -> str:
    """The chat that the session belongs to."""
    mark = tool_context.state.get("adk_stream")
    chat = mark.get("chat") if isinstance(mark, Mapping) else None
    # A session that adk-stream did not make has no mark; its id may still be that of a chat.
    return chat if isinstance(chat, str) else tool_context.session.id
