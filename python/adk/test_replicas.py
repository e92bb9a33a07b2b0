"""Two adk-streams over one database, in front of one ADK: whatever races at their doors, one answer
reaches ADK, once. ADK by itself runs the tool twice (test_loss.py)."""

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest

from adk import call, says
from front import front
from launcher import TIMEOUT
from postgres import postgres

RACES = 200 if os.environ.get("TEST_LONG") == "1" else 20
AT_ONCE = 20

# The answers to the first server and to the second, at the same moment.
CLICKS = [(True, True), (False, False), (True, False), (False, True)]


@pytest.fixture(scope="module")
def replicas(servers):
    # In memory: ADK answers 500 when twenty at once want to write into its file.
    server = servers["memory"].ready()
    with ExitStack() as stack:
        store = stack.enter_context(postgres())
        settings = {"store": store, "cluster_key": "known-to-this-cluster-alone", "lease": 2}
        yield tuple(stack.enter_context(front(server, "resumable", **settings)) for _ in range(2))


def pays(name):
    """A rule: a message that names it is a payment."""
    return {**says(call("pay", f"call-{name}", to=name)), "contains": name}


def decision_in(answer):
    """The decision that an answer gets, whether it was the first or not."""
    body = answer.json()
    return body["decision"]["approved"] if answer.status_code == 409 else body["approved"]


def race(replicas, nth):
    """A chat whose approval is answered at two servers at once: what both get."""
    name = f"race-{nth:03}"
    # Asked through one of them, answered through both.
    chat = replicas[nth % 2].chat(name)
    chunks = chat.say(f"Pay {name}")
    asked = [chunk for chunk in chunks if chunk["type"] == "tool-approval-request"]
    assert len(asked) == 1, chunks
    path = f"/api/approvals/{asked[0]['approvalId']}"
    start = threading.Barrier(2)
    answers = {}

    def click(server, approved):
        with httpx.Client(base_url=server.url, timeout=TIMEOUT) as client:
            start.wait()
            answers[server] = client.post(path, json={"approved": approved})

    clicks = zip(replicas, CLICKS[nth // 2 % len(CLICKS)], strict=True)
    both = [threading.Thread(target=click, args=one) for one in clicks]
    for one in both:
        one.start()
    for one in both:
        one.join()
    return chat, [answers[server] for server in replicas]


def test_races_at_two_servers_have_one_decision_each(replicas, emulator, ledger):
    emulator.script(*[pays(f"race-{nth:03}") for nth in range(RACES)])
    with ThreadPoolExecutor(AT_ONCE) as pool:
        raced = list(pool.map(lambda nth: race(replicas, nth), range(RACES)))
    count = Counter()
    for nth, (chat, answers) in enumerate(raced):
        clicked = CLICKS[nth // 2 % len(CLICKS)]
        is_approved, again = map(decision_in, answers)
        assert is_approved == again, [answer.text for answer in answers]
        assert is_approved in clicked
        # The same answer again is answered alike; a contrary one gets the decision.
        late = sum(answer.status_code == 409 for answer in answers)
        assert late == (clicked[0] != clicked[1]), [answer.text for answer in answers]
        parts = chat.parts()
        (decided,) = chat.happened("gate-closed")
        (settled,) = chat.happened("call-settled")
        (tool,) = [part for part in parts if part["type"] == "dynamic-tool"]
        if is_approved:
            assert (decided["decision"], settled["outcome"]) == ("approved", "output"), chat.id
            assert (tool["state"], tool["output"]) == ("output-available", {"paid": chat.id})
        else:
            assert (decided["decision"], settled["outcome"]) == ("denied", "denied"), chat.id
            assert tool["state"] == "output-denied"
        count["approved" if is_approved else "denied"] += 1
        count["contrary"] += clicked[0] != clicked[1]
    paid = Counter(entry["to"] for entry in ledger.entries())
    assert set(paid.values()) == {1}, paid
    approved = {chat.id for chat, answers in raced if decision_in(answers[0])}
    assert set(paid) == approved
    print(f"{RACES} races: {dict(count)}, {len(paid)} executions")
