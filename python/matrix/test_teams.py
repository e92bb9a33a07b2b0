"""Agents with agents inside: what asks is shown, and the answer goes back to it."""

import pytest

import limits
from adk import call, says, says_to
from conftest import NEWEST, before
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
    """What comes before the first agent's name: the app, where the server names none."""
    return [app] if name in WITHOUT_APP_INFO else []


def outcomes(chat):
    """What became of the calls."""
    return [settled["outcome"] for settled in chat.happened("call-settled")]


def both():
    """Rules: of two agents that run side by side, each pays somebody."""
    return [says_to("Go", call("pay", to=to)) for to in ("ann", "ben")]


def results_of(tool, emulator):
    """The results of a tool that a model was sent."""
    contents = [content for request in emulator.asked() for content in request["contents"]]
    parts = [part for content in contents for part in content["parts"]]
    responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return [response["response"] for response in responses if response["name"] == tool]


def is_paid(chat, ledger, path, to="ann"):
    assert paths(chat) == {to: path}
    answer(chat, True)
    assert f"paid {to}" in str(chat.parts()), chat.view()
    assert ledger.paid(to) == 1


@flow("confirmation after a transfer")
def test_transfer(team, name, emulator, ledger):
    to = "agent_name" if name.startswith("python") else "agentName"
    emulator.script(
        says_to("Go", call("transfer_to_agent", **{to: "helper"})), says(call("pay", to="ann"))
    )
    with team("plain") as served:
        chat = served.chat()
        chat.say("Go")
        is_paid(chat, ledger, [*above(name, "plain"), "root", "helper"])
        goes_on(chat)


@flow("confirmation in a sequence")
def test_sequence(team, emulator, ledger):
    emulator.script(says_to("Go", call("pay", to="ann")))
    with team("sequence") as served:
        chat = served.chat()
        chat.say("Go")
        is_paid(chat, ledger, ["sequence", "first"])


@flow("confirmation in a loop")
def test_loop(team, name, emulator, ledger):
    emulator.script(says_to("Go", call("pay", to="ann")))
    with team("loop") as served:
        chat = served.chat()
        chat.say("Go")
        if limits.of(name, "confirmation in a loop"):
            answer(chat, True)
            assert chat.over()["error"]["code"] == "agent_bad_request"
            assert outcomes(chat) == ["unknown"]
            assert ledger.paid("ann") <= 1
            return
        is_paid(chat, ledger, ["loop", "worker"])


@flow("confirmations in parallel agents")
def test_parallel(team, name, emulator, ledger):
    emulator.script(*both())
    with team("parallel") as served:
        chat = served.chat()
        chat.say("Go")
        asked = {approval["input"]["to"]: approval["approvalId"] for approval in chat.approvals(2)}
        assert sorted(paths(chat, 2).values()) == [["parallel", "left"], ["parallel", "right"]]
        served.answer(asked["ann"], True)
        served.answer(asked["ben"], True)
        chat.parts()
        if limits.of(name, "confirmations in parallel agents"):
            assert outcomes(chat) == ["unknown"] * 2
            assert ledger.events() == []
            return
        assert [part["state"] for part in tools_of(chat)] == ["output-available"] * 2
        assert (ledger.paid("ann"), ledger.paid("ben")) == (1, 1)


@flow("confirmations in parallel agents")
def test_parallel_is_answered_each_by_itself(team, name, emulator, ledger):
    emulator.script(*both())
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
def test_agent_tool(team, name, emulator, ledger):
    """No ADK can ask from there: nothing is paid, and the agent above gets what is no success."""
    emulator.script(says_to("Go", call("clerk", request="Pay ann")), says(call("pay", to="ann")))
    with team("delegate") as served:
        chat = served.chat()
        chat.say("Go")
        chat.over()
        assert chat.approvals(0) == []
        assert ledger.paid("ann") == 0
        sent = results_of("clerk", emulator)
        assert sent, "the agent above was not sent a result"
        # An explanation, or nothing.
        explained = [response for response in sent if any(response.values())]
        assert all("cannot resume" in str(response) for response in explained), sent
        assert explained or name != NEWEST, sent
