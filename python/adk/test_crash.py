"""adk-stream killed in front of the real ADK, at any moment: the ledger agrees with the journal,
nothing is paid twice, and what nobody can know is said to be unknown."""

import os
import random
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import httpx
import pytest

from adk import call, says
from front import front, until

KILLS = int(os.environ.get("KILLS", "20"))
LANES = 4
PEOPLE = 400


@pytest.fixture
def crashing(adk, tmp_path):
    """adk-stream with its journals in a file."""
    with front(adk, "resumable", store=f"sqlite:{tmp_path}/chats.db", lease=1) as served:
        yield served


def pays(name, **more):
    """A rule: a message that names it is a payment, however often the model is called."""
    rule = says(call("pay", to=name, **more))
    return {**rule, "contains": f"Pay {name}", "times": 1000}


def die(server):
    server.end(signal.SIGKILL)
    server.begin()


def made(ledger, name):
    """How often somebody was paid."""
    return sum(entry.get("to") == name for entry in ledger.entries())


def outcome(chat):
    """What the page is shown of the payment; the journal must say the same."""
    view = chat.view()
    answers = [message for message in view["messages"] if message["role"] == "assistant"]
    tools = [part for part in answers[0]["parts"] if part["type"] == "dynamic-tool"]
    assert len(tools) == 1, view
    settled = chat.happened("call-settled")
    assert len(settled) == 1, settled
    shown = {
        "output": "output-available",
        "denied": "output-denied",
        "unknown": "output-error",
        "error": "output-error",
    }
    assert tools[0]["state"] == shown[settled[0]["outcome"]], (tools, settled)
    if settled[0]["outcome"] == "unknown":
        assert "unknown" in tools[0]["errorText"], tools
    # The agent has said once the outcome of it.
    words = [part for part in answers[0]["parts"] if part["type"] == "text"]
    assert len(words) == 1, answers[0]
    return settled[0]["outcome"]


def test_an_approval_that_waits_outlives_it(crashing, emulator, ledger):
    emulator.script(pays("ann"))
    chat = crashing.chat()
    chat.say("Pay ann")
    (approval,) = chat.approvals()
    die(crashing)
    assert [again["approvalId"] for again in chat.approvals()] == [approval["approvalId"]]
    assert crashing.answer(approval["approvalId"], True).status_code == 200
    assert "paid" in chat.last_words()
    assert (outcome(chat), made(ledger, "ann")) == ("output", 1)


def test_a_tool_that_adk_was_running_is_unknown_and_the_chat_goes_on(crashing, emulator, ledger):
    emulator.script(pays("ann", seconds=30))
    chat = crashing.chat()
    chat.say("Pay ann")
    (approval,) = chat.approvals()
    crashing.answer(approval["approvalId"], True)
    until(lambda: made(ledger, "ann") == 1)
    die(crashing)
    chat.parts()
    assert (outcome(chat), made(ledger, "ann")) == ("unknown", 1)
    # The answer was given, and is not asked for again.
    assert chat.approvals(0) == []
    chat.say("Hello")
    assert "Hello" in chat.last_words()
    assert made(ledger, "ann") == 1


def test_a_tool_that_was_asked_for_but_not_about_is_unknown(crashing, emulator, ledger):
    emulator.script(says(call("doze", seconds=30)))
    chat = crashing.chat()
    leave(chat, "Go", when=lambda: "doze" in ledger.events())
    until(lambda: chat.happened("step-ended"))
    die(crashing)
    chat.parts()
    assert outcome(chat) == "unknown"
    assert ledger.events().count("doze") == 1


def leave(chat, words, when):
    """Says something, and leaves when something has happened."""
    url = f"{chat.front.url}/api/chat"
    with httpx.stream("POST", url, json=chat.body(words)) as answer:
        assert answer.status_code == 200
        until(when)


NEVER = object()


class Person:
    """Somebody who pays, and asks again whenever nobody answers."""

    def __init__(self, server, name):
        self.chat = server.chat(name)
        self.server, self.name = server, name
        self.body = self.chat.body(f"Pay {name}")

    def request(self, method, path, **more):
        try:
            answer = self.server.request(method, path, **more)
            return answer if answer.status_code < 500 else None
        except httpx.TransportError:
            return None

    def pay(self, approved):
        """Pays, with a yes or a no, however often it has to be said; what was decided."""
        asked = self.until(self.asked)
        if asked is NEVER:
            return None
        answer = self.until(
            lambda: self.request("POST", f"/api/approvals/{asked}", json={"approved": approved})
        )
        assert answer.status_code == 200, (self.name, answer.text)
        return approved

    def asked(self):
        view = self.request("GET", f"/api/chat/{self.name}")
        if view is None:
            return None
        if view.status_code == 404:
            self.request("POST", "/api/chat", json=self.body)
            return None
        if view.json()["status"] == "finished":
            # It died after the call was made, and before ADK had asked.
            return NEVER
        for part in view.json()["messages"][-1]["parts"]:
            if part.get("state") == "approval-requested":
                return part["approval"]["id"]
        return None

    def until(self, attempt):
        end = time.monotonic() + 60
        while (found := attempt()) is None:
            assert time.monotonic() < end, f"{self.name} waits for ever: {self.chat.view()}"
            time.sleep(0.01)
        return found


def test_whenever_it_dies_the_ledger_agrees_with_the_journal(crashing, emulator, ledger):
    emulator.script(*[pays(f"person-{nth:03}") for nth in range(PEOPLE)])
    numbers = count()
    people, decided, problems = [], {}, []
    is_over = threading.Event()

    def lane(seed):
        dice = random.Random(seed)
        try:
            while not is_over.is_set():
                nth = next(numbers)
                assert nth < PEOPLE, "raise their number"
                person = Person(crashing, f"person-{nth:03}")
                people.append(person)
                decided[person.name] = person.pay(approved=dice.random() < 0.8)
        except BaseException as problem:
            problems.append(problem)
            raise

    lanes = [threading.Thread(target=lane, args=(seed,)) for seed in range(LANES)]
    for one in lanes:
        one.start()
    dice = random.Random(42)
    for _ in range(KILLS):
        time.sleep(dice.uniform(0.2, 1.2))
        die(crashing)
    is_over.set()
    for one in lanes:
        one.join()
    assert not problems
    paid = Counter(entry["to"] for entry in ledger.entries())
    found = Counter()
    for person in people:
        view = person.chat.over()
        assert view["status"] == "finished", view
        times = made(ledger, person.name)
        came = outcome(person.chat)
        rules: dict[bool | None, dict[str, tuple[int, ...]]] = {
            True: {"output": (1,), "unknown": (0, 1)},
            False: {"denied": (0,)},
            None: {"unknown": (0,)},
        }
        allowed = rules[decided[person.name]]
        assert times in allowed.get(came, ()), (person.name, came, allowed, times)
        found[came if decided[person.name] is not None else "not asked"] += 1
    assert max(paid.values()) == 1
    print(f"{KILLS} kills: {dict(found)}, {sum(paid.values())} executions")
    assert found["output"] > 0


def test_right_after_an_approval_it_dies(crashing, emulator, ledger):
    kills, at_once = max(KILLS // 2, 1), 6
    names = [f"soon-{nth:03}" for nth in range(kills * at_once)]
    emulator.script(*[pays(name) for name in names])
    dice = random.Random(7)
    found = Counter()
    with ThreadPoolExecutor(at_once) as pool:

        def ask(name):
            chat = crashing.chat(name)
            chat.say(f"Pay {name}")
            (approval,) = chat.approvals()
            return chat, approval["approvalId"]

        for nth in range(kills):
            asked = list(pool.map(ask, names[nth * at_once : (nth + 1) * at_once]))
            answers = pool.map(lambda one: crashing.answer(one[1], True), asked)
            assert all(answer.status_code == 200 for answer in answers)
            time.sleep(dice.uniform(0, 0.15))
            die(crashing)
            for chat, _ in asked:
                chat.parts()
                found[outcome(chat), made(ledger, chat.id)] += 1
    print(f"{kills} kills: {dict(found)}")
    assert set(found) <= {("output", 1), ("unknown", 0), ("unknown", 1)}, found


def test_an_approval_that_adk_has_not_read_yet_is_not_sent_twice(crashing, emulator, ledger):
    """ADK is blocked while it has the approval's request, and adk-stream dies and comes back."""
    rounds = 3
    rules = [pays(f"bob-{nth}") for nth in range(rounds)]
    emulator.script({**says(call("block", seconds=2)), "contains": "Block", "times": 100}, *rules)
    found = Counter()
    for nth in range(rounds):
        chat = crashing.chat()
        chat.say(f"Pay bob-{nth}")
        (approval,) = chat.approvals()
        blocked = ledger.events().count("block")
        other = crashing.chat()
        leave(other, "Block", when=lambda blocked=blocked: ledger.events().count("block") > blocked)
        crashing.answer(approval["approvalId"], True)
        time.sleep(0.2)
        die(crashing)
        chat.parts()
        found[outcome(chat), made(ledger, f"bob-{nth}")] += 1
        other.over()
    print(f"{rounds} kills while ADK is blocked: {dict(found)}")
    assert all(times <= 1 for _, times in found)
    assert all(times == 1 for came, times in found if came == "output")
