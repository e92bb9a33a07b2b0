"""Wallets with a thousand dollars each, kept as a list of payments in a file.

Every run of the tool is a line of its own, so that a payment which was made twice shows.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import tempfile
import time
from pathlib import Path
from typing import Any, TextIO

START_CENTS = 100_000


def ledger() -> Path:
    """The file, as ASSISTANT_LEDGER names it."""
    return Path(os.environ.get("ASSISTANT_LEDGER", Path(tempfile.gettempdir(), "assistant-ledger")))


def pay(
    user: str, call: str, amount: float, currency: str, recipient: str, description: str
) -> dict[str, Any]:
    """Pays, or says why not: both are results, which the model can read."""
    with ledger().open("a+") as file:
        # Two processes may share the file, and must not both spend the last dollar.
        fcntl.flock(file, fcntl.LOCK_EX)
        balance = START_CENTS - spent(file, user)
        cents = round(amount * 100)
        if problem := _problem(amount, cents, currency, balance):
            return _refused(problem, balance)
        transaction = f"txn_{secrets.token_hex(6)}"
        entry = {
            "user": user,
            "transactionId": transaction,
            "toolCallId": call,
            "amount": _dollars(cents),
            "recipient": recipient,
            "description": description,
            "at": round(time.time() * 1000),
        }
        file.write(json.dumps(entry) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return {
        "success": True,
        "transaction_id": transaction,
        "amount": _dollars(cents),
        "currency": "USD",
        "recipient": recipient,
        "description": description,
        "wallet_balance": _dollars(balance - cents),
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def spent(file: TextIO, user: str) -> int:
    """What a user has paid so far, in cents."""
    file.seek(0)
    entries = map(json.loads, file)
    return sum(round(entry["amount"] * 100) for entry in entries if entry["user"] == user)


def _problem(amount: float, cents: int, currency: str, balance: int) -> str | None:
    if currency != "USD":
        return "The wallet holds USD only."
    if amount <= 0:
        return "The amount must be more than nothing."
    if abs(amount * 100 - cents) > 1e-6:
        return "The amount must not be finer than a cent."
    if cents > balance:
        return "Insufficient funds"
    return None


def _refused(problem: str, balance: int) -> dict[str, Any]:
    return {
        "success": False,
        "error": problem,
        "transaction_id": None,
        "wallet_balance": _dollars(balance),
    }


def _dollars(cents: int) -> int | float:
    return cents // 100 if cents % 100 == 0 else cents / 100
