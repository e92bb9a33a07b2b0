"""Reports, which take a while: who asked has gone on talking when one is done.

A thread stands in for what would be a worker of its own, with a queue. All that it needs is to know
the chat, and to reach adk-stream.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import Any

import httpx

# How long writing takes, and how long a report waits for the turn that asked for it to be over.
SECONDS = float(os.environ.get("ASSISTANT_REPORT_SECONDS", "3"))
PATIENCE = 60.0


def begin(chat: str, topic: str) -> None:
    """Has a report written, and brought to the chat."""
    threading.Thread(target=_work, args=(chat, topic), daemon=True).start()


def _work(chat: str, topic: str) -> None:
    time.sleep(SECONDS)
    report = f"All that is known about {topic}, on one page."
    try:
        bring(chat, topic, {"status": "done", "topic": topic, "report": report})
    except httpx.HTTPError as error:
        logging.getLogger(__name__).warning("a report could not be brought: %s", error)


def bring(chat: str, topic: str, output: dict[str, Any]) -> None:
    """Brings what came of a call to adk-stream: the agent is told, and answers."""
    url = os.environ.get("ADK_STREAM_URL") or "http://127.0.0.1:8080"
    with httpx.Client(base_url=url.rstrip("/")) as client:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if call := _waiting(client, chat, topic):
                answer = client.post(f"/api/calls/{call}", json={"output": output})
                answer.raise_for_status()
                return
            time.sleep(0.2)


def _waiting(client: httpx.Client, chat: str, topic: str) -> str | None:
    """The call that waits for the report, once the turn that made it is over."""
    answer = client.get(f"/api/chat/{chat}")
    answer.raise_for_status()
    for message in answer.json()["messages"]:
        for part in message["parts"]:
            is_meant = part["type"] == "tool-write_report" and part["input"] == {"topic": topic}
            if is_meant and part["state"] == "input-available":
                return str(part["toolCallId"])
    return None
