"""adk-stream as a process in front of ADK, and chats with it."""

import json
import signal
import time
import uuid
from contextlib import contextmanager
from typing import Any

import httpx

from launcher import BINARY, TIMEOUT, end, free_port, launch


class Front:
    """adk-stream's own routes, and the process that has them."""

    def __init__(self, adk, app, *, port=0, **settings):
        self.command = self.serve(adk, app)
        # One that is started again is where it was.
        self.port = port or free_port()
        self.variables = {
            "ADK_STREAM_LOG": "error",
            **{f"ADK_STREAM_{name.upper()}": str(value) for name, value in settings.items()},
        }
        self.client = httpx.Client(timeout=TIMEOUT, limits=httpx.Limits(max_connections=None))
        self.begin()

    def serve(self, adk, app):
        """What starts it, but for where it listens."""
        return ["serve", "--agent", "adk", "--adk-url", adk.url, "--adk-app", app]

    def begin(self):
        """Starts it."""
        command = [*self.command, "--listen", f"127.0.0.1:{self.port}"]
        self.process, self.url = launch(BINARY, command, self.variables)

    def end(self, how=signal.SIGTERM):
        end(self.process, how)

    def request(self, method, path, **more):
        return self.client.request(method, self.url + path, **more)

    def chat(self, id=None):
        return Chat(self, id or f"chat-{uuid.uuid4()}")

    def answer(self, approval, approved, reason=None):
        body = {"approved": approved, **({"reason": reason} if reason else {})}
        return self.reply(approval, body)

    def reply(self, approval, body):
        return self.request("POST", f"/api/approvals/{approval}", json=body)


class Chat:
    """A chat, as a page sees it."""

    def __init__(self, front, id):
        self.front, self.id = front, id

    def say(self, words, **more):
        """Says something, and waits until the window closes: its chunks."""
        answer = self.front.request("POST", "/api/chat", json={**self.body(words), **more})
        assert answer.status_code == 200, answer.text
        # A comment comes when nothing else has come for a while.
        lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
        data = [line.removeprefix("data: ") for line in lines]
        return [json.loads(line) for line in data if line != "[DONE]"]

    def body(self, words):
        parts = [{"type": "text", "text": words}]
        message = {"id": str(uuid.uuid4()), "role": "user", "parts": parts}
        return {"id": self.id, "messages": [message], "trigger": "submit-message"}

    def approvals(self, number=1):
        """The questions that are open, once there are this many."""
        found: list[dict[str, Any]] = []

        def asked():
            everyone = self.front.request("GET", "/api/approvals?limit=200").json()["approvals"]
            found[:] = [approval for approval in everyone if approval["chatId"] == self.id]
            return len(found) == number

        until(asked)
        return found

    def view(self):
        answer = self.front.request("GET", f"/api/chat/{self.id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def over(self):
        """The chat, once its turn is over."""
        found: list[dict[str, Any]] = []

        def is_over():
            found[:] = [self.view()]
            return found[0]["status"] in ("finished", "failed", "stopped")

        until(is_over)
        return found[0]

    def parts(self):
        """What the agent last said, once it is done."""
        view = self.over()
        assert view["status"] == "finished", view
        return view["messages"][-1]["parts"]

    def last_words(self):
        return self.parts()[-1]["text"]

    def journal(self):
        """Everything that happened, in order."""
        answer = self.front.request("GET", f"/api/chat/{self.id}/journal")
        assert answer.status_code == 200, answer.text
        return [event for entry in answer.json()["entries"] for event in entry["events"]]

    def happened(self, kind):
        """Everything of a kind that happened."""
        return [event for event in self.journal() if event["event"] == kind]


def until(is_so, allowed=TIMEOUT):
    end = time.monotonic() + allowed
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def front(*arguments, **settings):
    """adk-stream before an app of an ADK server, ended at the end."""
    return ended(Front(*arguments, **settings))


@contextmanager
def ended(server):
    """A server that is ended at the end, if it has not ended before."""
    try:
        yield server
    finally:
        server.client.close()
        if server.process.poll() is None:
            server.end()
