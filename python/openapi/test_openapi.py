"""`/openapi.json` of a real server, judged by Schemathesis: what fits a schema is accepted, what does
not is refused, and every response is one that the document has."""

import json
import os
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from launcher import BINARY, ROOT, TIMEOUT, launched

KEYS = {
    "ADK_STREAM_KEYS": "ann=a-key-of-ann-in-this-test,bob=a-key-of-bob-in-this-test",
    "ADK_STREAM_AGENT_KEY": "a-key-of-the-agent-in-this-test",
    "ADK_STREAM_METRICS_KEY": "a-key-of-the-metrics-in-this-test",
}
ANN = {"authorization": "Bearer a-key-of-ann-in-this-test"}

LONG = bool(os.environ.get("TEST_LONG"))


@pytest.fixture(scope="module")
def url():
    # No quota is tested here: a program sends more than a person.
    unlimited = [
        "max-requests-per-second",
        "max-requests-in-flight",
        "max-event-streams",
        "max-body-bytes-per-second",
        "max-open-chats",
        "max-open-approvals",
    ]
    quotas = [word for name in unlimited for word in (f"--{name}", "none")]
    command = ["serve", "--listen", "127.0.0.1:0", "--store", "memory", "--pace", "0", *quotas]
    with launched(BINARY, command, {**KEYS, "ADK_STREAM_LOG": "error"}) as url:
        yield url


def say(url, words):
    """Opens a chat by saying something in it, and waits for the end of the window: the chat's id."""
    chat = f"chat-{uuid.uuid4()}"
    part = {"type": "text", "text": words}
    message = {"id": f"message-{uuid.uuid4()}", "role": "user", "parts": [part]}
    body: Any = {"id": chat, "messages": [message]}
    answer = requests.post(f"{url}/api/chat", json=body, headers=ANN, timeout=TIMEOUT)
    assert answer.status_code == 200, answer.text
    return chat


def open_calls(url, chat):
    """The calls that wait for a page."""
    view = requests.get(f"{url}/api/chat/{chat}", headers=ANN, timeout=TIMEOUT).json()
    parts = [part for message in view["messages"] for part in message["parts"]]
    return [part["toolCallId"] for part in parts if part.get("state") == "input-available"]


def values(items):
    return json.dumps(list(items))


def configuration(url):
    """What Schemathesis can't know: keys, and ids and cursors of what is there."""
    read = [say(url, "Hello"), *(say(url, f"Pay Ann ${n}") for n in range(1, 7))]
    deleted = [say(url, "Hello") for _ in range(8)]
    found = requests.get(f"{url}/api/approvals", params={"limit": 2}, headers=ANN, timeout=TIMEOUT)
    chats = requests.get(f"{url}/api/chats", params={"limit": 2}, headers=ANN, timeout=TIMEOUT)
    every = requests.get(f"{url}/api/approvals", headers=ANN, timeout=TIMEOUT).json()["approvals"]
    approvals = [one["approvalId"] for one in every]
    # Pages run these, or the agent's side in their place.
    calls = [call for _ in range(4) for call in open_calls(url, say(url, "Play track 2"))]
    assert len(calls) == 4
    assert len(approvals) >= 6
    return f"""
[auth.openapi]
bearer = {{ bearer = "a-key-of-ann-in-this-test" }}
agentKey = {{ bearer = "a-key-of-the-agent-in-this-test" }}
metricsKey = {{ bearer = "a-key-of-the-metrics-in-this-test" }}

[dictionaries.read]
values = {values(read)}
[dictionaries.deleted]
values = {values(deleted)}
[dictionaries.approvals]
values = {values(approvals)}
[dictionaries.calls]
values = {values(calls)}

[[operations]]
include-path-regex = '^/api/chats?/\\{{id\\}}'
exclude-method = "DELETE"
parameters = {{ "path.id" = {{ dictionary = "read", probability = 0.7 }} }}

[[operations]]
include-method = "DELETE"
parameters = {{ "path.id" = {{ dictionary = "deleted", probability = 0.7 }} }}

[[operations]]
include-path = "/api/approvals/{{id}}"
parameters = {{ "path.id" = {{ dictionary = "approvals", probability = 0.7 }} }}
# An answer of the other kind, or an input that the tool does not take: the question decides that.
checks = {{ positive_data_acceptance = {{ expected-statuses = [200, 400, 401, 404, 409] }} }}

# The agent's side may name a chat, and nobody else may: the body can't say which it is.
[[operations]]
include-path = "/api/calls/{{id}}"
headers = {{ authorization = "Bearer a-key-of-the-agent-in-this-test" }}
parameters = {{ "path.id" = {{ dictionary = "calls", probability = 0.7 }} }}

# A cursor is opaque: a client has it from the server.
[[operations]]
include-path = "/api/approvals"
parameters = {{ "query.cursor" = "{found.json()["nextCursor"]}" }}

[[operations]]
include-path = "/api/chats"
parameters = {{ "query.cursor" = "{chats.json()["nextCursor"]}" }}

# Messages that nobody knows are ignored, and nothing may be left.
[[operations]]
include-path = "/api/ag-ui"
checks = {{ positive_data_acceptance = {{ expected-statuses = [200, 400, 404, 409, 410] }} }}

# The same route as /api/chat, for pages that need not name their chat.
[[operations]]
include-path = "/stream"
phases = {{ coverage = {{ enabled = {"true" if LONG else "false"} }} }}

# It never ends: the first event is enough.
[[operations]]
include-path = "/api/events"
max-stream-events = 1

# A tool's call may not be in the journal yet: what names none that is there waits for 15 seconds. And
# whether a question's schema can be asked by is not for a schema to say.
[[operations]]
include-path = "/api/agent/asks"
request-timeout = 60
generation = {{ mode = "{"all" if LONG else "negative"}" }}
checks = {{ positive_data_acceptance = {{ expected-statuses = [200, 400, 404, 409] }} }}

# A plain request is what can be sent here, and is refused for being one.
[[operations]]
include-path = ["/api/chat/live", "/live"]
checks = {{ positive_data_acceptance = {{ expected-statuses = [426] }} }}
"""


def judge(url, folder, *options):
    """Runs Schemathesis: what it printed, if it found something."""
    settings = folder / "schemathesis.toml"
    settings.write_text(configuration(url))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings), "run"]
    command += [f"{url}/openapi.json", *options]
    # After a few wrong keys an address has to wait: keys have a test of their own.
    command += ["--exclude-checks", "ignored_auth"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout + done.stderr


def test_server_is_as_it_says(url, tmp_path):
    # The same requests in each run, so that a change of the server is what makes a difference.
    options = ["--seed", "1", "--generation-database", "none"]
    if LONG:
        options = ["--generation-database", "none", "--max-examples", "200"]
    else:
        options += ["--phases", "coverage,fuzzing", "--max-examples", "8"]
    code, printed = judge(url, tmp_path, *options)
    assert code == 0, printed


def operations(url):
    """Each operation of the document that needs a key: its method and its path."""
    document = requests.get(f"{url}/openapi.json", timeout=TIMEOUT).json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation.get("security") != [{}]:
                yield method.upper(), path.replace("{id}", "any")


class From(requests.adapters.HTTPAdapter):
    """Connects from an address of its own: wrong keys are counted by address."""

    def __init__(self, address):
        self.address = address
        super().__init__()

    def init_poolmanager(self, *arguments, **more):
        super().init_poolmanager(*arguments, source_address=(self.address, 0), **more)


def test_no_key_but_the_right_one_opens_a_route(url):
    asked = list(operations(url))
    assert len(asked) > 20

    def ask(number):
        method, path = asked[number]
        session = requests.Session()
        session.mount("http://", From(f"127.0.0.{number + 2}"))
        wrong = {"authorization": "Bearer a-key-of-nobody-in-this-test"}
        for headers in ({}, wrong, {"x-api-key": "a-key-of-nobody-in-this-test"}):
            headers = {**headers, "content-type": "application/json"}
            answer = session.request(
                method, url + path, headers=headers, data="{}", timeout=TIMEOUT
            )
            assert answer.status_code == 401, f"{method} {path}: {answer.text}"
            assert answer.json()["error"]["code"] == "unauthorized"

    # The answer to a wrong key takes its time.
    with ThreadPoolExecutor(len(asked)) as pool:
        list(pool.map(ask, range(len(asked))))


def test_document_is_the_published_one(url):
    answer = requests.get(f"{url}/openapi.json", timeout=TIMEOUT)
    assert answer.json() == json.loads((ROOT / "docs/openapi.json").read_text())
