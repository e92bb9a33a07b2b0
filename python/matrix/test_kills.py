"""Either side ends and comes back: nothing is lost, and nothing is paid twice, behind any ADK.

The tests of a server come in this order: what a kill leaves at work in ADK is gone when ADK is restarted.
"""

import signal
from collections import Counter

import pytest

from adk import call, says_to
from front import until
from test_flows import answer, goes_on

flow = pytest.mark.flow

# How many tools are at work at each kill.
AT_WORK = 2


def pays(name):
    """A rule: a message that names it is a payment, and it takes long."""
    return says_to(f"Pay {name}", call("pay", to=name, seconds=10))


@flow("adk-stream restarts")
def test_adk_stream_restarts(served, emulator, ledger):
    emulator.script(says_to("Go", call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    chat.approvals()
    served.end()
    served.begin()
    answer(chat, True)
    assert "paid ann" in chat.last_words()
    assert ledger.paid("ann") == 1


@flow("kill during the tool")
def test_nothing_is_paid_twice(served, emulator, ledger, pytestconfig):
    kills = pytestconfig.getoption("--kills")
    found = Counter()
    for kill in range(kills):
        names = [f"one-{kill:03}-{nth}" for nth in range(AT_WORK)]
        emulator.script(*map(pays, names))
        chats = [served.chat(f"{name}-{served.port}") for name in names]
        for chat, name in zip(chats, names, strict=True):
            chat.say(f"Pay {name}")
            (approval,) = chat.approvals()
            served.answer(approval["approvalId"], True)
        until(lambda names=names: all(ledger.paid(name) for name in names))
        served.end(signal.SIGKILL)
        served.begin()
        for chat, name in zip(chats, names, strict=True):
            view = chat.over()
            assert view["status"] == "finished", view.get("error")
            (settled,) = chat.happened("call-settled")
            found[settled["outcome"], settled.get("reason"), ledger.paid(name)] += 1
            chat.say("Hello again")
            assert chat.over()["status"] == "finished"
            assert ledger.paid(name) == 1
    print(f"{kills} kills, {AT_WORK} tools at work at each: {dict(found)}")
    assert set(found) <= {("unknown", "server-stopped", 1), ("output", None, 1)}, found
    # Nor by a server that has taken over since.
    paid = Counter(entry["to"] for entry in ledger.entries())
    assert len(paid) == kills * AT_WORK and set(paid.values()) == {1}, paid


@flow("ADK restarts")
def test_adk_restarts(served, emulator, ledger):
    emulator.script(says_to("Go", call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    chat.approvals()
    # It is not given the time to put anything away.
    served.adk.end(signal.SIGKILL)
    served.adk.begin()
    served.adk.ready()
    answer(chat, True)
    assert "paid ann" in chat.last_words()
    assert ledger.paid("ann") == 1
    goes_on(chat)
