"""adk-stream as a process in front of ADK, and chats with it."""

import os
import socket
import subprocess
import time
import uuid
from contextlib import contextmanager

import httpx

from emulator import BINARY, PATIENCE


def free_port():
    """A port that nobody has at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Front:
    """adk-stream's own routes."""

    def __init__(self, url):
        self.url = url
        self.client = httpx.Client(base_url=url, timeout=PATIENCE)

    def chat(self):
        return Chat(self, f"chat-{uuid.uuid4()}")

    def answer(self, approval, approved, reason=None):
        body = {"approved": approved, **({"reason": reason} if reason else {})}
        return self.client.post(f"/api/approvals/{approval}", json=body)


class Chat:
    """A chat, as a page sees it."""

    def __init__(self, front, id):
        self.front, self.id = front, id

    def say(self, words):
        """Says something, and waits until the window closes."""
        message = {
            "id": str(uuid.uuid4()),
            "role": "user",
            "parts": [{"type": "text", "text": words}],
        }
        body = {"id": self.id, "messages": [message], "trigger": "submit-message"}
        answer = self.front.client.post("/api/chat", json=body)
        assert answer.status_code == 200, answer.text

    def approvals(self, number=1):
        """The questions that are open, once there are so many."""
        found = []

        def asked():
            everyone = self.front.client.get("/api/approvals").json()["approvals"]
            found[:] = [approval for approval in everyone if approval["chatId"] == self.id]
            return len(found) == number

        until(asked)
        return found

    def parts(self):
        """What the agent last said, once it is done."""
        messages = []

        def is_done():
            messages[:] = self.front.client.get(f"/api/chat/{self.id}").json()["messages"]
            return messages[-1].get("metadata", {}).get("turn") == "finished"

        until(is_done)
        return messages[-1]["parts"]

    def last_words(self):
        return self.parts()[-1]["text"]


def until(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@contextmanager
def front(port, adk, app, key):
    """Starts adk-stream before an app of an ADK server."""
    command = [BINARY, "serve", "--listen", f"127.0.0.1:{port}", "--agent", "adk"]
    command += ["--adk-url", adk.url, "--adk-app", app]
    environment = {name: value for name, value in os.environ.items() if "ADK_STREAM" not in name}
    environment["ADK_STREAM_AGENT_KEY"] = key
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    line = process.stdout.readline()
    assert line.startswith("listening on "), f"adk-stream said {line!r}"
    served = Front(line.removeprefix("listening on ").strip())
    yield served
    served.client.close()
    process.terminate()
    process.wait(PATIENCE)
