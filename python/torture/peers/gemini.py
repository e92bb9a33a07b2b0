"""The model of the peers that call Gemini: the emulator, which pays what it is asked to pay."""

from emulator import Emulator
from peer import LAST_WORD

# Between two words.
PACE_MS = 30
WORDS = [
    "The ",
    "payment ",
    "has ",
    "been ",
    "made, ",
    "and ",
    "nothing ",
    "is ",
    "left ",
    "to ",
    "do. ",
]


def candidate(part, **more):
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, **more}]}


def script(emulator: Emulator, chat: str) -> None:
    """Has the model call the tool for a message, and say something slowly when it has the receipt."""
    call = {"functionCall": {"name": "pay", "args": {"to": chat}}}
    words = [candidate({"text": word}) for word in WORDS]
    last = candidate({"text": LAST_WORD}, finishReason="STOP")
    rules = [
        {
            "on": "generate",
            "contains": f"Pay {chat}",
            "respond": [candidate(call, finishReason="STOP")],
        },
        {
            "on": "generate",
            "contains": f"receipt-{chat}",
            "paceMs": PACE_MS,
            "respond": [*words, last],
        },
    ]
    emulator.call("POST", "script", {"rules": rules})
