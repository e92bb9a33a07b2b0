"""Asking from inside a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import AskError, Cancelled, Denied, Failed, Refused, TimedOut
from .server import Server
from .tool_context import ToolContext, call_of, chat_of, next_ask


async def approve(tool_context: ToolContext, question: str, timeout: float | None = None) -> None:
    """Asks a person, and returns when they have said yes.

    `timeout` is in seconds; without one, the question waits for as long as adk-stream lets it.

    Raises `Denied`, `TimedOut` or `Cancelled` if nobody said yes, and `NotConnected` or `Refused`
    if adk-stream could not be asked.
    """
    decision = await _ask(tool_context, {"approval": {"question": question}}, timeout)
    if decision["decision"] != "approved":
        raise _refusal(decision)


async def ask(
    tool_context: ToolContext,
    question: str,
    schema: Mapping[str, Any],
    timeout: float | None = None,
) -> Any:
    """Asks a person for data that fits a JSON Schema, and returns it.

    adk-stream validates the answer before it is taken, so what is returned fits.

    Raises `Denied` if the person declines, and what `approve` raises.
    """
    asked = {"question": question, "schema": dict(schema)}
    decision = await _ask(tool_context, {"question": asked}, timeout)
    if decision["decision"] != "output":
        raise _refusal(decision)
    return decision.get("output")


async def on_page(
    tool_context: ToolContext,
    tool: str,
    input: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> Any:
    """Has the user's page run one of its tools, and returns its output.

    Raises `Failed` if the tool failed there, and what `approve` raises.
    """
    call = {"tool": tool, "input": dict(input or {})}
    decision = await _ask(tool_context, {"clientCall": call}, timeout)
    if decision["decision"] != "output":
        raise _refusal(decision)
    return decision.get("output")


async def _ask(
    tool_context: ToolContext, ask: Mapping[str, Any], timeout: float | None
) -> dict[str, Any]:
    server = Server.from_environment()
    question = {
        "chat": chat_of(tool_context),
        "call": call_of(tool_context),
        "nth": next_ask(tool_context),
        "ask": ask,
        "timeoutMs": None if timeout is None else round(timeout * 1000),
    }
    return await server.decision(question, timeout)


def _refusal(decision: dict[str, Any]) -> AskError:
    match decision["decision"]:
        case "denied":
            return Denied(decision.get("reason"))
        case "timed-out":
            return TimedOut()
        case "cancelled":
            return Cancelled(decision.get("reason"))
        case "failed":
            return Failed(str(decision.get("error", "")))
        case other:
            return Refused(f"adk-stream decided {other!r}, which is no answer to this ask")
