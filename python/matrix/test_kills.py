"""adk-stream killed while ADK runs the approved tool: nothing is paid twice, behind any ADK."""

import signal
from collections import Counter

import pytest

from adk import call, says
from front import until

# How many tools are at work at each kill.
AT_WORK = 2


def pays(name):
    """A rule: whoever names it is to be paid, and it takes long."""
    return {**says(call("pay", to=name, seconds=10)), "contains": f"Pay {name}"}


@pytest.mark.flow("kill during the tool")
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
    # Tools that nobody waits for any more would have their model asked in the middle of another test.
    served.adk.end(signal.SIGKILL)
    served.adk.begin()
    served.adk.ready()
    print(f"{kills} kills, {AT_WORK} tools at work at each: {dict(found)}")
    assert set(found) <= {("unknown", "server-stopped", 1), ("output", None, 1)}, found
