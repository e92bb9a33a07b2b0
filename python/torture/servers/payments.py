"""What the Python peers have in common: the words of their model, and the tool's one effect."""

import os
from typing import Any

import httpx

# Between two words of the model, in seconds.
PACE = 0.03
WORDS = ["The ", "payment ", "has ", "been ", "settled, ", "nothing ", "left. ", "Done."]


def payee(prompt: str) -> str:
    """What a message asks to be paid."""
    return prompt.removeprefix("Pay ")


async def pay_at_ledger(to: str, call: str) -> dict[str, Any]:
    """Pays: every request is an execution."""
    async with httpx.AsyncClient(timeout=60) as client:
        response = await client.post(os.environ["LEDGER"], json={"to": to, "call": call})
        response.raise_for_status()
        return response.json()
