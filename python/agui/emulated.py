"""What the emulator says in the place of a model: the same as the functions of the other agents."""

from typing import Any

Json = dict[str, Any]


def rule(contains: str, *parts: Json) -> Json:
    """What the model says to the last message or result that contains something."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    return {"on": "generate", "contains": contains, "respond": [{"candidates": [candidate]}]}


def says(contains: str, text: str) -> Json:
    return rule(contains, {"text": text})


def call(name: str, **arguments: Any) -> Json:
    return {"functionCall": {"name": name, "args": arguments}}


# The first that fits is followed: results come before prompts.
RULES = [
    says("Too much.", "Not paid: Too much."),
    says("Not paid", "Not paid."),
    says('"paid"', 'Paid: {"paid": 5}'),
    says('"refunded"', "Refunded."),
    says("Cloudy", "It is Cloudy in Oslo."),
    *(says(words, f"You said: {words}") for words in ("Hello there", "And again", "Thanks")),
    rule("pay here", call("pay", amount=5), call("locate")),
    rule("pay twice", call("pay", amount=5), call("pay", amount=6)),
    rule("self-destruct", call("die")),
    rule("refund", call("refund", amount=5)),
    rule("weather", call("get_weather", city="Oslo")),
    rule("pay", call("pay", amount=5)),
    rule("where", call("locate")),
    says("Oslo", "You are in Oslo."),
]
