"""`adk api_server` as a process, and conversations with it."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import Any

import httpx
from websockets.sync.client import connect

from launcher import BYTECODE_CACHE, ROOT, TIMEOUT, free_port, start

CONFIRMATION = "adk_request_confirmation"
USER = "ann"

# How long a server may take to start: all of them start at once, on a machine that may be busy.
START = 600


class Adk:
    """An ADK server."""

    LISTENING = r"running on (http://\S+)"

    def __init__(self, agents, directory, emulator, sessions=None, python=None, **environment):
        self.agents = agents
        # Another version of ADK is in another environment.
        self.python = python or sys.executable
        self.directory = pathlib.Path(directory)
        # A file outlives the process; memory:// does not.
        self.sessions = sessions or f"sqlite:///{self.directory}/sessions.db"
        self.environment = {
            "GOOGLE_API_KEY": "a key",
            # The SDK insists on TLS for Live, and the emulator speaks it on the same port.
            "GOOGLE_GEMINI_BASE_URL": emulator.secure_url,
            "SSL_CERT_FILE": str(emulator.certificate),
            "PYTHONPATH": str(ROOT / "python/adk_stream/src"),
            **BYTECODE_CACHE,
            **environment,
        }
        self.client = httpx.Client(timeout=TIMEOUT)
        self.log = []
        self.url = None
        self.begin()

    def begin(self, port=0):
        """Starts it; a server that is still starting is waited for by `ready`."""
        # One that starts again is where it was.
        if self.url and not port:
            port = self.url.rpartition(":")[2]
        port = port or free_port()
        self.process = start(
            self.command(port),
            self.environment,
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.url = None
        self._listening = threading.Event()
        # Its output has to be read, or it blocks once the pipe is full.
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,))
        self._reader.start()

    def command(self, port):
        command = [self.python, "-m", "google.adk.cli", "api_server", "--port", str(port)]
        command += ["--session_service_uri", self.sessions, "--artifact_service_uri", "memory://"]
        return [*command, self.agents]

    def _read(self, output):
        for line in output:
            self.log.append(line)
            if found := re.search(self.LISTENING, line):
                self.url = found[1]
                self._listening.set()
        self._listening.set()

    def ready(self):
        """Waits until it listens."""
        assert self._listening.wait(START), "ADK does not start"
        assert self.url, "".join(self.log[-20:])
        return self

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(TIMEOUT)
        self._reader.join(TIMEOUT)

    def request(self, method, path, **more):
        return self.client.request(method, self.url + path, **more)

    def create(self, app, **body):
        """Makes a session; what it is made with is in the body."""
        return self.request("POST", f"/apps/{app}/users/{USER}/sessions", json=body)

    def conversation(self, app, **body):
        answer = self.create(app, **body)
        assert answer.status_code == 200, answer.text
        return Conversation(self, app, answer.json()["id"])


@contextmanager
def adk(*arguments, **more):
    """An ADK server that is ended at the end."""
    server = Adk(*arguments, **more)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()
        server.client.close()


class Conversation:
    """A session, as a client of ADK sees it."""

    def __init__(self, server, app, session):
        self.server, self.app, self.session = server, app, session

    def body(self, parts, **more):
        message = {"role": "user", "parts": list(parts)}
        names = {"appName": self.app, "userId": USER, "sessionId": self.session}
        return {**names, "newMessage": message, **more}

    def run(self, *parts, **more):
        """Sends a message over /run_sse, and gives all events that come of it."""
        return list(self.stream(*parts, **more))

    def stream(self, *parts, **more):
        """The same, event by event."""
        url = f"{self.server.url}/run_sse"
        body = self.body(parts, **more)
        with self.server.client.stream("POST", url, json=body) as answer:
            assert answer.status_code == 200, answer.read()
            for line in answer.iter_lines():
                if line:
                    assert line.startswith("data: "), line
                    yield json.loads(line.removeprefix("data: "))

    def stored(self):
        """The session, as ADK keeps it."""
        path = f"/apps/{self.app}/users/{USER}/sessions/{self.session}"
        answer = self.server.request("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @contextmanager
    def live(self, modalities="TEXT"):
        """A socket of /run_live."""
        address = self.server.url.replace("http://", "ws://")
        query = f"app_name={self.app}&user_id={USER}&session_id={self.session}"
        url = f"{address}/run_live?{query}&modalities={modalities}"
        with connect(url, max_size=None, open_timeout=TIMEOUT) as socket:
            yield Live(socket)


class Live:
    """A socket of /run_live."""

    def __init__(self, socket):
        self.socket = socket

    def say(self, *parts):
        self.send(content={"role": "user", "parts": list(parts)})

    def send(self, **frame):
        self.socket.send(json.dumps(frame))

    def next(self, timeout=TIMEOUT):
        return json.loads(self.socket.recv(timeout=timeout))

    def until(self, is_so):
        """The events up to the first that is so."""
        events: list[dict[str, Any]] = []
        while not events or not is_so(events[-1]):
            events.append(self.next())
        return events

    def turn(self):
        """The events of a turn."""
        return self.until(lambda event: event.get("turnComplete"))


def text(words):
    return {"text": words}


def call(name, id=None, /, **args):
    """A call, as the model makes it."""
    return {"functionCall": {"name": name, "args": args, **({"id": id} if id else {})}}


def response(id, name, body):
    return {"functionResponse": {"id": id, "name": name, "response": body}}


def confirm(id, **more):
    return response(id, CONFIRMATION, {"confirmed": True, **more})


def settle(id):
    """Answers a confirmation without a word: ADK asks no more, and runs nothing."""
    return {"functionResponse": {"id": id, "name": CONFIRMATION}}


def says(*parts):
    """A rule: the model says this, once."""
    content = {"role": "model", "parts": list(parts)}
    candidate = {"content": content, "finishReason": "STOP"}
    return {"on": "generate", "times": 1, "respond": [{"candidates": [candidate]}]}


def says_to(words, *parts):
    """The same, to these words alone: a run that goes on after an earlier test gets none of it."""
    return {**says(*parts), "contains": words}


def calls_live(*parts):
    """A rule: the live model calls these, once, and waits for them."""
    calls = [part["functionCall"] for part in parts]
    return {"on": "answer", "times": 1, "respond": [{"toolCall": {"functionCalls": calls}}]}


def parts_of(events):
    """What was said, in short: words, ("call", id, name), ("response", id, what)."""
    short = []
    for event in events:
        for part in (event.get("content") or {}).get("parts") or []:
            if found := part.get("functionCall"):
                short.append(("call", found["id"], found["name"]))
            elif found := part.get("functionResponse"):
                short.append(("response", found["id"], found.get("response")))
            elif part.get("text"):
                short.append(part["text"])
    return short


def confirmations(events):
    """The ids of the confirmations that are asked for, by the call that they are about."""
    found = {}
    for event in events:
        for part in (event.get("content") or {}).get("parts") or []:
            asked = part.get("functionCall")
            if asked and asked["name"] == CONFIRMATION:
                found[asked["args"]["originalFunctionCall"]["id"]] = asked["id"]
    return found


def model_parts(request):
    """What a request to the model says, as `parts_of`."""
    return parts_of({"content": content} for content in request["contents"])
