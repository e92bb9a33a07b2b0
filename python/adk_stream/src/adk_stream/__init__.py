"""Asks people and pages from inside the tools of an ADK agent, through adk-stream.

A tool that calls `approve`, `ask` or `on_page` awaits the answer, in `/run_sse` and in
`/run_live` alike; nothing blocks the event loop meanwhile.

- `tool_context`: what is needed of ADK's ToolContext, and which ask of its call this is.
- `server`: how adk-stream is asked, again and again, until it has an answer.
- `gate`: `approve`, `ask` and `on_page`.
- `requires_approval`: the decorator.
- `errors`: everything that can be said instead of yes.

This package owns no decision: adk-stream keeps the question, its answer and its time limit. It
does not import ADK.
"""

from .errors import AskError, Cancelled, Denied, Failed, NotConnected, Refused, TimedOut
from .gate import approve, ask, on_page
from .requires_approval import requires_approval

__all__ = [
    "AskError",
    "Cancelled",
    "Denied",
    "Failed",
    "NotConnected",
    "Refused",
    "TimedOut",
    "approve",
    "ask",
    "on_page",
    "requires_approval",
]
