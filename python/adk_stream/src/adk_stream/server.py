"""How adk-stream is asked."""

from __future__ import annotations

import asyncio
import os
import random
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx

from .errors import NotConnected, Refused

# The server holds a request for up to 20 seconds. Who says nothing for this long is gone.
ANSWERS_WITHIN = 40.0

# How long it may be away where the ask has no time limit of its own.
TIMEOUT = 60.0

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0

# The server, or something in front of it, says that it can't say now.
UNAVAILABLE = {429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Server:
    """Where adk-stream is, and the key that it gave to the agent."""

    url: str
    key: str

    @staticmethod
    def from_environment() -> Server:
        """Reads ADK_STREAM_URL and ADK_STREAM_AGENT_KEY."""
        key = os.environ.get("ADK_STREAM_AGENT_KEY", "")
        if not key:
            raise NotConnected("ADK_STREAM_AGENT_KEY is not set: it is the key that adk-stream has")
        if not (key.isascii() and key.isprintable()):
            raise NotConnected("ADK_STREAM_AGENT_KEY has characters that no header can carry")
        url = os.environ.get("ADK_STREAM_URL") or "http://127.0.0.1:8080"
        return Server(url.rstrip("/"), key)

    async def decision(self, ask: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        """Asks until there is a decision. The same ask again is the same question."""
        address = f"{self.url}/api/agent/asks"
        headers = {"Authorization": f"Bearer {self.key}"}
        allowed = TIMEOUT if timeout is None else timeout
        waits = httpx.Timeout(10.0, read=ANSWERS_WITHIN)
        # Every ask has connections of its own, so that none waits for another.
        async with httpx.AsyncClient(timeout=waits, verify=_trusted()) as client:
            deadline = time.monotonic() + allowed
            pause = FIRST_PAUSE
            while True:
                after: float | None = None
                asked = time.monotonic()
                try:
                    answer = await client.post(address, json=ask, headers=headers)
                except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                    raise NotConnected(f"ADK_STREAM_URL is no address: {error}") from error
                except httpx.TransportError as error:
                    problem = str(error) or type(error).__name__
                else:
                    if answer.status_code not in UNAVAILABLE:
                        body = _body(answer)
                        if body["decision"] is not None:
                            return body
                        now = time.monotonic()
                        deadline = now + allowed
                        pause = FIRST_PAUSE
                        # It should have held the request. Where it did not, this is no reason to
                        # ask it as fast as it can answer.
                        await asyncio.sleep(max(0.0, asked + FIRST_PAUSE - now))
                        continue
                    problem = f"it answers {answer.status_code}"
                    after = _retry_after(answer)
                # Half of it is left to chance, so that many tools do not come back at once.
                wait = after if after is not None else pause * random.uniform(0.5, 1.0)
                if time.monotonic() + wait > deadline:
                    raise NotConnected(f"adk-stream is not there at {self.url}: {problem}")
                await asyncio.sleep(wait)
                pause = min(pause * 2, LONGEST_PAUSE)


def _body(answer: httpx.Response) -> dict[str, Any]:
    if answer.status_code == 200:
        try:
            body = answer.json()
        except ValueError:
            body = None
        if isinstance(body, dict) and "decision" in body:
            return body
        raise Refused(f"adk-stream gave an answer that is not understood: {answer.text[:200]}")
    problem = _problem(answer)
    if answer.status_code in (401, 403):
        raise NotConnected(f"adk-stream does not accept the key in ADK_STREAM_AGENT_KEY: {problem}")
    if answer.status_code == 404:
        raise NotConnected(f"adk-stream does not know this call: {problem}")
    raise Refused(f"adk-stream does not take the ask ({answer.status_code}): {problem}")


def _problem(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200] or answer.reason_phrase


def _retry_after(answer: httpx.Response) -> float | None:
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


@cache
def _trusted() -> ssl.SSLContext:
    # Reading the certificates takes tens of milliseconds of the event loop: once is enough.
    return httpx.create_ssl_context()
