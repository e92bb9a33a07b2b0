"""Agents with agents inside: what asks is shown, and the answer goes back to it."""

import pytest

import limits
from adk import call, says
from conftest import before
from test_flows import answer, goes_on, tools_of

flow = pytest.mark.flow

# Those that do not say which agent of an app is the first.
WITHOUT_APP_INFO = {"python-1.22.1", "typescript-2.0.0"}


@pytest.fixture
def team(servers, name, emulator, tmp_path):
    """adk-stream before an app, by its name."""

    def team(app):
        return before(servers[name].ready(), name, app, tmp_path)

    return team


def paths(chat, count=1):
    """Who asks, by who is to be paid."""
    return {approval["input"]["to"]: approval["path"] for approval in chat.approvals(count)}


def above(name, app):
    """What stands before the first agent's name: the app, where the server names none."""
    return [app] if name in WITHOUT_APP_INFO else []


def is_paid(chat, ledger, path, to="ann"):
    assert paths(chat) == {to: path}
    answer(chat, True)
    assert f"paid {to}" in str(chat.parts()), chat.view()
    assert ledger.paid(to) == 1


@flow("confirmation after a transfer")
def test_transfer(team, name, emulator, ledger):
    to = "agent_name" if name.startswith("python") else "agentName"
    emulator.script(says(call("transfer_to_agent", **{to: "helper"})), says(call("pay", to="ann")))
    with team("plain") as served:
        chat = served.chat()
        chat.say("Go")
        is_paid(chat, ledger, [*above(name, "plain"), "root", "helper"])
        goes_on(chat)


@flow("confirmation in a sequence")
def test_sequence(team, emulator, ledger):
    emulator.script(says(call("pay", to="ann")))
    with team("sequence") as served:
        chat = served.chat()
        chat.say("Go")
        is_paid(chat, ledger, ["sequence", "first"])


@flow("confirmation in a loop")
def test_loop(team, name, emulator, ledger):
    emulator.script(says(call("pay", to="ann")))
    with team("loop") as served:
        chat = served.chat()
        chat.say("Go")
        if limits.of(name, "confirmation in a loop"):
            answer(chat, True)
            assert chat.over()["error"]["code"] == "agent_bad_request"
            assert ledger.paid("ann") <= 1
            return
        is_paid(chat, ledger, ["loop", "worker"])


@flow("confirmations in parallel agents")
def test_parallel(team, name, emulator, ledger):
    emulator.script(says(call("pay", to="ann")), says(call("pay", to="ben")))
    with team("parallel") as served:
        chat = served.chat()
        chat.say("Go")
        asked = {approval["input"]["to"]: approval["approvalId"] for approval in chat.approvals(2)}
        assert sorted(paths(chat, 2).values()) == [["parallel", "left"], ["parallel", "right"]]
        served.answer(asked["ann"], True)
        served.answer(asked["ben"], True)
        chat.parts()
        if limits.of(name, "confirmations in parallel agents"):
            assert [part["state"] for part in tools_of(chat)] == ["output-error"] * 2
            assert ledger.events() == []
            return
        assert [part["state"] for part in tools_of(chat)] == ["output-available"] * 2
        assert (ledger.paid("ann"), ledger.paid("ben")) == (1, 1)


@flow("confirmations in parallel agents")
def test_parallel_is_answered_each_by_itself(team, name, emulator, ledger):
    emulator.script(says(call("pay", to="ann")), says(call("pay", to="ben")))
    with team("parallel") as served:
        chat = served.chat()
        chat.say("Go")
        asked = {approval["input"]["to"]: approval["approvalId"] for approval in chat.approvals(2)}
        served.answer(asked["ann"], True)
        served.answer(asked["ben"], False, "not him")
        chat.parts()
        if limits.of(name, "confirmations in parallel agents"):
            assert ledger.events() == []
            return
        states = {part["input"]["to"]: part["state"] for part in tools_of(chat)}
        assert states == {"ann": "output-available", "ben": "output-denied"}
        assert (ledger.paid("ann"), ledger.paid("ben")) == (1, 0)


@flow("confirmation in an agent that is a tool")
def test_agent_tool(team, emulator, ledger):
    """No ADK can ask from there: it is told so, and nothing is paid."""
    emulator.script(says(call("clerk", request="Pay ann")), says(call("pay", to="ann")))
    with team("delegate") as served:
        chat = served.chat()
        chat.say("Go")
        chat.over()
        assert chat.approvals(0) == []
        assert ledger.paid("ann") == 0
