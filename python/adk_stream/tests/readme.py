"""The code of README.md, and what it takes for granted."""

from google.adk.tools import FunctionTool, ToolContext
from google.genai import types

from adk_stream import Denied, approve, ask, on_page, requires_approval


@requires_approval("Send {amount} {currency} to {recipient}?", timeout=30)
def process_payment(amount: float, recipient: str, currency: str = "USD") -> dict:
    """Sends money from the user's wallet."""
    return wallet.pay(amount, recipient)


async def set_mood(location: str, tool_context: ToolContext) -> dict:
    """Plays music that suits the weather."""
    return await on_page(tool_context, "change_bgm", {"track": 2}, timeout=60)


PARTY = {
    "type": "object",
    "properties": {"people": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
    "required": ["people"],
}


async def book_table(day: str, tool_context: ToolContext) -> dict:
    """Books a table, for as many as a person says."""
    try:
        party = await ask(tool_context, f"For how many on {day}?", PARTY)
    except Denied as denied:
        return {"error": str(denied)}
    return book(f"a table on {day} for {party['people']}")


async def book_flight(destination: str, tool_context: ToolContext) -> dict:
    """Books a flight, asking as it goes."""
    try:
        await approve(tool_context, f"Pay 120 USD for a seat to {destination}?")
    except Denied as denied:
        return {"error": str(denied)}
    return book(destination)


class Wallet:
    def pay(self, amount: float, recipient: str) -> dict:
        return {"paid": amount, "to": recipient}


wallet = Wallet()


def book(destination: str) -> dict:
    return {"booked": destination}


def in_the_background() -> FunctionTool:
    tool = FunctionTool(process_payment)
    tool.behavior = types.Behavior.NON_BLOCKING
    return tool
