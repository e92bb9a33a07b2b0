"""pydantic-ai's AG-UI adapter on the emulator of Gemini: what the demo can do, for the matrix of turns.

The tools of the page are those that adk-stream offers with each run.
"""

import json
import os
import pathlib
import uuid
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from pydantic_ai import Agent, DeferredToolRequests, RunContext
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

# A line of JSON for every payment.
LEDGER = pathlib.Path(os.environ["LEDGER"])

WEATHER = {
    "tokyo": (18, "Cloudy", 65),
    "san francisco": (15, "Foggy", 80),
    "london": (12, "Rainy", 85),
    "new york": (10, "Sunny", 50),
}


class OnEmulator(GoogleModel):
    """Gives results to the demo behind the emulator as it reads them: as they are, and errors under
    `error`. pydantic-ai puts a text, as a denial is, under a key of its own, and keeps what a page gave
    as text."""

    async def _map_tool_return(self, part: Any) -> Any:
        returned: Any = await super()._map_tool_return(part)
        mapped, files = returned
        if isinstance(part.content, str):
            mapped["function_response"]["response"] = as_given(part.content)
        return mapped, files


def as_given(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"error": text}


provider = GoogleProvider(api_key="a-key", base_url=os.environ["EMULATOR"])
agent = Agent(
    OnEmulator("gemini-3-flash", provider=provider),
    deps_type=str,
    output_type=[str, DeferredToolRequests],
)


def payments() -> list[dict[str, Any]]:
    lines = LEDGER.read_text().splitlines() if LEDGER.exists() else []
    return [json.loads(line) for line in lines]


@agent.tool(requires_approval=True)
def process_payment(
    context: RunContext[str],
    amount: float,
    recipient: str,
    currency: str = "USD",
    description: str = "",
) -> dict[str, Any]:
    """Sends money from the user's wallet."""
    user = context.deps
    spent = sum(payment["amount"] for payment in payments() if payment["user"] == user)
    balance = round(1000 - spent, 2)
    if amount > balance:
        error = "Insufficient funds"
        return {"success": False, "error": error, "transaction_id": None, "wallet_balance": balance}
    # Once for every run, so that a payment which was made twice shows.
    transaction = f"txn_{uuid.uuid4().hex[:12]}"
    entry = {
        "user": user,
        "transactionId": transaction,
        "toolCallId": context.tool_call_id,
        "amount": amount,
        "recipient": recipient,
        "description": description,
    }
    with LEDGER.open("a") as ledger:
        ledger.write(f"{json.dumps(entry)}\n")
    return {
        "success": True,
        "transaction_id": transaction,
        "amount": amount,
        "currency": currency,
        "recipient": recipient,
        "description": description,
        "wallet_balance": round(balance - amount, 2),
        "timestamp": datetime.now(UTC).isoformat(),
    }


@agent.tool_plain
def get_weather(location: str) -> dict[str, Any]:
    """Tells the weather of a city."""
    temperature, condition, humidity = WEATHER.get(location.lower(), (20, "Unknown", 60))
    return {
        "temperature": temperature,
        "condition": condition,
        "humidity": humidity,
        "location": location,
    }


async def run(request: Request) -> Response:
    user = unquote(request.headers["x-adk-stream-principal"])
    return await AGUIAdapter.dispatch_request(request, agent=agent, deps=user)


app = Starlette(routes=[Route("/", run, methods=["POST"])])
