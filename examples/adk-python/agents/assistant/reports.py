"""Reports, which take a while: who asked has gone on talking when one is done.

A thread takes the place of a worker with a queue. All that it needs are the ids of the chat and of the
call, and the agent's key for adk-stream.
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
TIMEOUT = 60.0


def begin(chat: str, call: str, topic: str) -> None:
    """Has a report written, and sends it to the chat as the result of the call."""
    threading.Thread(target=_work, args=(chat, call, topic), daemon=True).start()


def _work(chat: str, call: str, topic: str) -> None:
    time.sleep(SECONDS)
    report = f"All that is known about {topic}, on one page."
    try:
        bring(chat, call, {"status": "done", "topic": topic, "report": report})
    except httpx.HTTPError as error:
        logging.getLogger(__name__).warning("a report could not be brought: %s", error)


def bring(chat: str, call: str, output: dict[str, Any]) -> None:
    """Brings the result of a call to adk-stream, which gives it to the agent."""
    url = os.environ.get("ADK_STREAM_URL") or "http://127.0.0.1:8080"
    headers = {"Authorization": f"Bearer {os.environ.get('ADK_STREAM_AGENT_KEY', '')}"}
    with httpx.Client(base_url=url.rstrip("/"), headers=headers) as client:
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = client.post(f"/api/calls/{call}", json={"chat": chat, "output": output})
            # The call waits for its result once the turn that made it is over.
            if answer.status_code != 404 or time.monotonic() > deadline:
                answer.raise_for_status()
                return
            time.sleep(0.2)
