"""adk-stream in front of a live ADK, and pages on its WebSocket, in the legacy bridge's dialect."""

import base64
import json
import uuid
from contextlib import contextmanager
from typing import Any

import httpx
from websockets.sync.client import connect

from front import Front, until
from launcher import BINARY, TIMEOUT, launched

# A tenth of a second, not quiet, at 16 kHz. In base64 it has every letter that the two kinds differ in.
SOUND = bytes([0xFB, 0x1F, 0xFF, 0x1F]) * 800


class LiveFront(Front):
    """adk-stream's own routes, and its socket."""

    def __init__(self, url):
        # The fixture that serves it has started it.
        self.url = url
        self.client = httpx.Client(base_url=url, timeout=TIMEOUT)

    @contextmanager
    def page(self, chat=None):
        """A page on a chat."""
        chat = chat or f"chat-{uuid.uuid4()}"
        url = self.url.replace("http://", "ws://") + "/api/chat/live"
        with connect(url, max_size=None, open_timeout=TIMEOUT) as socket:
            yield Page(self, socket, chat)

    def approval(self, chat):
        """The question that is open in a chat, once there is one."""
        return self.approvals(chat, 1)[0]

    def approvals(self, chat, number):
        found: list[dict[str, Any]] = []

        def asked():
            everyone = self.client.get("/api/approvals").json()["approvals"]
            found[:] = [approval for approval in everyone if approval["chatId"] == chat]
            return len(found) == number

        until(asked)
        return found

    def messages(self, chat):
        return self.client.get(f"/api/chat/{chat}").json()["messages"]


class Page:
    """A page, as far as frames go."""

    def __init__(self, front, socket, chat):
        self.front, self.socket, self.chat = front, socket, chat

    def send(self, type, **fields):
        self.socket.send(json.dumps({"type": type, "id": self.chat, **fields}))

    def say(self, words):
        self._message({"type": "text", "text": words})

    def speak(self, pieces=3):
        """Says something aloud."""
        self._message({"type": "data-speech", "data": {}})
        self.send("audio_control", action="start")
        chunk = base64.b64encode(SOUND).decode()
        sound = {"chunk": chunk, "sampleRate": 16000, "channels": 1, "bitDepth": 16}
        for _ in range(pieces):
            self.send("audio_chunk", **sound)
        self.send("audio_control", action="stop")

    def _message(self, part):
        message = {"id": str(uuid.uuid4()), "role": "user", "parts": [part]}
        self.send("message", messages=[message], trigger="submit-message")

    def next(self):
        """The next chunk; nothing, at the end of a turn."""
        frame = self.socket.recv(timeout=TIMEOUT)
        data = frame.removeprefix("data: ").strip()
        return None if data == "[DONE]" else json.loads(data)

    def until(self, type):
        """The chunks up to the first of a type."""
        chunks = [self.next()]
        while chunks[-1]["type"] != type:
            chunks.append(self.next())
        return chunks

    def rest(self):
        """The chunks up to the end of the turn."""
        return list(iter(self.next, None))

    def ask(self, words):
        """Says something, and gives what was answered."""
        self.say(words)
        return self.rest()

    def parts(self):
        """The parts of the last message."""
        return self.front.messages(self.chat)[-1]["parts"]


def words(chunks):
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


@contextmanager
def live_front(port, adk, app, key, *arguments):
    """Starts adk-stream before an app of an ADK server, live."""
    command = ["serve", "--listen", f"127.0.0.1:{port}", "--agent", "adk-live"]
    command += ["--adk-url", adk.url, "--adk-app", app, *arguments]
    with launched(BINARY, command, {"ADK_STREAM_AGENT_KEY": key}) as url:
        served = LiveFront(url)
        try:
            yield served
        finally:
            served.client.close()
