"""Tools of every kind that ADK knows, which write down what they do."""

import asyncio
import json
import os
import time
from collections.abc import Callable
from typing import Any

from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

import adk_stream
from adk_stream import approve, on_page, requires_approval


def note(event, tool_context=None, **more):
    """Writes a line into the ledger."""
    call = tool_context.function_call_id if tool_context else None
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(json.dumps({"event": event, "call": call, "at": time.time(), **more}) + "\n")


async def pay(to: str, tool_context: ToolContext, seconds: float = 0.1) -> dict:
    """Pays, behind ADK's own confirmation."""
    note("pay", tool_context, to=to)
    # The money is gone, and nobody knows yet: long enough for a second approval to come in between.
    await asyncio.sleep(seconds)
    return {"paid": to}


def look(at: str, tool_context: ToolContext) -> dict:
    """A plain tool, which returns its input."""
    note(
        "look",
        tool_context,
        session=tool_context.session.id,
        user=tool_context.user_id,
        state=tool_context.state.to_dict(),
        metadata=dict(getattr(tool_context, "custom_metadata", {})),
    )
    return {"seen": at}


async def doze(seconds: float, tool_context: ToolContext) -> dict:
    """A tool that takes its time, and lets the loop continue."""
    note("doze", tool_context)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note("cancelled", tool_context)
        raise
    note("awake", tool_context)
    return {"slept": seconds}


def block(seconds: float, tool_context: ToolContext) -> dict:
    """A tool that takes its time, and holds the loop."""
    note("block", tool_context)
    time.sleep(seconds)
    return {"slept": seconds}


def break_down() -> dict:
    """A tool that fails."""
    raise RuntimeError("it broke")


async def keep(tool_context: ToolContext) -> dict:
    """Saves an artifact and changes the state."""
    await tool_context.save_artifact("note.txt", types.Part.from_text(text="hello"))
    tool_context.state["mood"] = "good"
    return {"kept": True}


def play(track: int, tool_context: ToolContext) -> None:
    """A long-running tool that has nothing to say yet."""
    note("play", tool_context)


def order(tool_context: ToolContext) -> dict:
    """A long-running tool that says something meanwhile."""
    return {"status": "pending"}


def locate(tool_context: ToolContext) -> dict | None:
    """A long-running tool that asks first."""
    if tool_context.tool_confirmation is None:
        tool_context.request_confirmation(hint="Tell where you are?")
        tool_context.actions.skip_summarization = True
        return {"error": "waiting"}
    note("locate", tool_context)
    return None


async def ask(question: str, tool_context: ToolContext) -> dict:
    """Asks through adk-stream, and lets what is no yes fly."""
    await approve(tool_context, question)
    return {"answer": "yes"}


TABLE = {
    "type": "object",
    "properties": {"people": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
    "required": ["people"],
}


async def table(day: str, tool_context: ToolContext) -> dict:
    """Books a table, for as many as a person says."""
    try:
        asked = await adk_stream.ask(tool_context, f"For how many on {day}?", TABLE)
    except adk_stream.AskError as error:
        return {"error": str(error)}
    note("table", tool_context, asked=asked)
    return {"booked": day, **asked}


@requires_approval("Hurry?", timeout=0.2)
def hurry() -> dict:
    """Does not wait for long."""
    note("hurry")
    return {"done": True}


@requires_approval("Send {amount} to {recipient}?")
def send(amount: float, recipient: str, currency: str = "USD") -> dict:
    """Sends money.

    Args:
        amount: How much.
    """
    note("send")
    return {"sent": amount, "currency": currency}


async def page(tool_context: ToolContext) -> dict:
    """Has the page play."""
    return {"page": await on_page(tool_context, "play", {"track": 1})}


def tools(non_blocking=False):
    plain: list[Callable[..., Any]] = [
        *(look, doze, block, break_down, keep),
        *(ask, table, hurry, send, page),
    ]
    long: list[Callable[..., Any]] = [play, order, locate]
    found = [
        *(FunctionTool(function) for function in plain),
        FunctionTool(pay, require_confirmation=True),
        *(LongRunningFunctionTool(function) for function in long),
    ]
    for tool in found:
        tool.behavior = types.Behavior.NON_BLOCKING if non_blocking else None
    return found
