"""What the assistant can do, over SSE and in live mode."""

from __future__ import annotations

import secrets
from typing import Any

from google.adk.tools import ToolContext

from adk_stream import AskError, approve, on_page

from . import reports, wallet

WEATHER = {
    "tokyo": (18, "Cloudy", 65),
    "san francisco": (15, "Foggy", 80),
    "london": (12, "Rainy", 85),
    "new york": (10, "Sunny", 50),
}

FARE = 120


def process_payment(
    amount: float,
    recipient: str,
    tool_context: ToolContext,
    currency: str = "USD",
    description: str = "",
) -> dict[str, Any]:
    """Sends money from the user's wallet."""
    call = tool_context.function_call_id or ""
    return wallet.pay(tool_context.user_id, call, amount, currency, recipient, description)


def get_weather(location: str) -> dict[str, Any]:
    """Tells the weather of a city."""
    if found := WEATHER.get(location.lower()):
        temperature, condition, humidity = found
        note = {}
    else:
        temperature, condition, humidity = 20, "Unknown", 60
        note = {"note": f"The demo has no weather for {location}."}
    return {
        "temperature": temperature,
        "condition": condition,
        "humidity": humidity,
        "location": location,
        **note,
    }


def get_location(tool_context: ToolContext) -> dict[str, Any] | None:
    """Tells where the user is."""
    # A long-running tool that asks first. It returns nothing: the page runs it once a person has
    # said yes, and adk-stream brings what the page found.
    if tool_context.tool_confirmation is None:
        tool_context.request_confirmation(hint="Tell the assistant where you are?")
        # Otherwise an app that is not resumable tells the model before anybody has answered.
        tool_context.actions.skip_summarization = True
        return {"error": "This tool call requires confirmation, please approve or reject."}
    return None if tool_context.tool_confirmation.confirmed else {"error": "Denied"}


def change_bgm(track: int) -> None:
    """Changes the background music to track 1 or 2."""
    # A long-running tool: the page plays the music, and adk-stream sends the result.


async def book_flight(destination: str, tool_context: ToolContext) -> dict[str, Any]:
    """Books a flight, asking as it goes."""
    try:
        await approve(tool_context, f"Hold a seat to {destination}?")
        seat = f"seat_{secrets.token_hex(6)}"
        question = f"Pay {FARE} USD for seat {seat} to {destination}?"
        await approve(tool_context, question)
    except AskError as error:
        return {"error": str(error)}
    paid = process_payment(FARE, f"Flight to {destination}", tool_context, description=seat)
    return {"success": paid["success"], "seat": seat, "destination": destination, "payment": paid}


async def set_mood(location: str, tool_context: ToolContext) -> dict[str, Any]:
    """Looks at the weather of a city and plays music that suits it."""
    weather = get_weather(location)
    track = 1 if weather["condition"] == "Sunny" else 2
    try:
        music = await on_page(tool_context, "change_bgm", {"track": track})
    except AskError as error:
        return {"error": str(error)}
    return {"location": location, "weather": weather, "music": music}


def write_report(topic: str, tool_context: ToolContext) -> dict[str, Any]:
    """Writes a report, which takes a while."""
    # A long-running tool that answers at once. The report is brought to adk-stream when it is done.
    if chat := tool_context.state.get("adk_stream", {}).get("chat"):
        reports.begin(chat, str(tool_context.function_call_id), topic)
    return {"status": "pending", "topic": topic}


async def get_location_live(tool_context: ToolContext) -> Any:
    """Tells where the user is."""
    try:
        await approve(tool_context, "Tell the assistant where you are?")
        return await on_page(tool_context, "get_location")
    except AskError as error:
        return {"error": str(error)}


async def change_bgm_live(track: int, tool_context: ToolContext) -> Any:
    """Changes the background music to track 1 or 2."""
    try:
        return await on_page(tool_context, "change_bgm", {"track": track})
    except AskError as error:
        return {"error": str(error)}


# The model and the page know them by one name, whichever way they run.
get_location_live.__name__ = "get_location"
change_bgm_live.__name__ = "change_bgm"
