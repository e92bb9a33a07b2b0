"""What a page does with an agent, behind every ADK."""

import httpx
import pytest

import limits
from adk import call, says
from front import until

flow = pytest.mark.flow


def tools_of(chat):
    parts = [part for message in chat.view()["messages"] for part in message["parts"]]
    return [part for part in parts if "toolCallId" in part]


def bring(chat, output):
    """The page runs its call."""
    (open_call,) = [part for part in tools_of(chat) if part["state"] == "input-available"]
    path = f"/api/calls/{open_call['toolCallId']}"
    answer = chat.front.request("POST", path, json={"output": output})
    assert answer.status_code == 200, answer.text


def answer(chat, approved, reason=None):
    (approval,) = chat.approvals()
    assert chat.front.answer(approval["approvalId"], approved, reason).status_code == 200


def goes_on(chat, emulator=None):
    """Whether the chat is well: the next message is answered."""
    if emulator:
        emulator.script()
    chat.say("Hello again")
    # Where the history is told in words, the model repeats those.
    words = chat.last_words()
    assert "Hello again" in words or "said before" in words, chat.view()


def send(chat, words, **more):
    body = {**chat.body(words), **more}
    answer = chat.front.request("POST", "/api/chat", json=body)
    assert answer.status_code == 200, answer.text


@flow("text")
def test_text(served):
    chat = served.chat()
    chat.say("Hello there")
    assert "Hello there" in chat.last_words()
    goes_on(chat)


@flow("tool of its own")
def test_tool_of_its_own(served, emulator, ledger):
    emulator.script(says(call("look", at="Oslo")))
    chat = served.chat()
    chat.say("Go")
    (tool,) = [part for part in chat.parts() if part["type"] == "dynamic-tool"]
    assert (tool["state"], tool["output"]) == ("output-available", {"seen": "Oslo"})
    assert "seen Oslo" in chat.last_words()
    assert ledger.events() == ["look"]


@flow("approve")
def test_approve(served, emulator, ledger):
    emulator.script(says(call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    assert ledger.events() == []
    answer(chat, True)
    assert "paid ann" in chat.last_words()
    assert ledger.paid("ann") == 1
    goes_on(chat)


@flow("deny with a reason")
def test_deny(served, emulator, ledger):
    emulator.script(says(call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    answer(chat, False, "too much")
    assert chat.last_words() == "You denied the call of pay: too much."
    assert ledger.events() == []
    goes_on(chat)


@flow("approve one, deny one")
def test_approve_one_and_deny_one(served, emulator, ledger):
    emulator.script(says(call("pay", "a", to="ann"), call("pay", "b", to="ben")))
    chat = served.chat()
    chat.say("Go")
    asked = {approval["input"]["to"]: approval["approvalId"] for approval in chat.approvals(2)}
    served.answer(asked["ann"], True)
    served.answer(asked["ben"], False, "not him")
    chat.parts()
    assert [part["state"] for part in tools_of(chat)] == ["output-available", "output-denied"]
    assert (ledger.paid("ann"), ledger.paid("ben")) == (1, 0)
    goes_on(chat)


@flow("page tool")
def test_page_tool(served, emulator):
    emulator.script(says(call("play", track=1)))
    chat = served.chat()
    chat.say("Go")
    bring(chat, {"playing": 1})
    assert "playing 1" in chat.last_words()
    goes_on(chat)


@flow("page tool behind a confirmation")
def test_page_tool_behind_a_confirmation(served, emulator):
    emulator.script(says(call("locate")))
    chat = served.chat()
    chat.say("Go")
    answer(chat, True)
    until(lambda: [part["state"] for part in tools_of(chat)] == ["input-available"])
    bring(chat, {"city": "Oslo"})
    assert "city Oslo" in chat.last_words()
    goes_on(chat)


@flow("long-running tool")
def test_long_running(served, emulator):
    emulator.script(says(call("order")))
    chat = served.chat()
    chat.say("Go")
    until(lambda: chat.view()["status"] == "parked")
    bring(chat, {"status": "delivered"})
    assert "delivered" in chat.last_words()
    goes_on(chat)


@flow("adk-stream restarts")
def test_adk_stream_restarts(served, emulator, ledger):
    emulator.script(says(call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    chat.approvals()
    served.end()
    served.begin()
    answer(chat, True)
    assert "paid ann" in chat.last_words()
    assert ledger.paid("ann") == 1


@pytest.mark.long
@flow("ADK restarts")
def test_adk_restarts(served, emulator, ledger):
    emulator.script(says(call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    chat.approvals()
    served.adk.end()
    served.adk.begin()
    served.adk.ready()
    answer(chat, True)
    assert "paid ann" in chat.last_words()
    assert ledger.paid("ann") == 1


@flow("edit and regenerate")
def test_edit(served, emulator):
    chat = served.chat()
    chat.say("My name is Ann")
    chat.say("Hello there")
    message = chat.view()["messages"][2]
    body = {**chat.body("Hello again"), "messageId": message["id"]}
    body["messages"][0]["id"] = message["id"]
    edited = served.request("POST", "/api/chat", json=body)
    assert edited.status_code == 200, edited.text
    assert chat.over()["status"] == "finished"
    asked = str(emulator.asked()[-1]["contents"])
    # The model knows what came before, and not what was edited.
    assert "My name is Ann" in asked and "Hello again" in asked
    assert "Hello there" not in asked
    send(chat, "Hello again", trigger="regenerate-message")
    asked = str(emulator.asked()[-1]["contents"])
    assert "My name is Ann" in asked and "Hello again" in asked
    goes_on(chat)


@flow("stop")
def test_stop(served, emulator, ledger):
    emulator.script(says(call("doze", seconds=1)))
    chat = served.chat()
    url = f"{served.url}/api/chat"
    with httpx.stream("POST", url, json=chat.body("Go")) as response:
        assert response.status_code == 200
        until(lambda: "doze" in ledger.events())
        assert served.request("POST", f"/api/chat/{chat.id}/stop").json() == {"stopped": True}
    goes_on(chat)
    # Whatever ADK does meanwhile, the model is told nothing of it.
    until(lambda: "awake" in ledger.events() or served.name.startswith("python"))
    goes_on(chat)
    assert "slept" not in str(emulator.asked()[-1]["contents"])


ERRORS = {
    "rate_limited": {"status": {"code": 429}},
    "agent_bad_request": {"status": {"code": 400}},
    "agent_refused": {"status": {"code": 403}},
    "agent_unavailable": {"status": {"code": 503}},
}


@flow("errors of the model")
@pytest.mark.parametrize(
    "code",
    ["rate_limited", *(pytest.param(code, marks=pytest.mark.long) for code in [*ERRORS][1:])],
)
def test_error(served, emulator, code):
    emulator.script({"on": "generate", "contains": "Fail", **ERRORS[code]})
    chat = served.chat()
    chat.say("Fail")
    view = chat.over()
    assert (view["status"], view["error"]["code"]) == ("failed", code), view["error"]
    goes_on(chat, emulator)


@flow("prompt that is blocked")
def test_blocked(served, emulator):
    emulator.script({"on": "generate", "contains": "Fail", "block": "SAFETY"})
    chat = served.chat()
    chat.say("Fail")
    view = chat.over()
    assert view["status"] == "failed", view
    assert view["error"]["code"] in ("agent_blocked", "agent_gave_up"), view["error"]
    goes_on(chat, emulator)


@flow("tool that raises")
def test_tool_that_raises(served, emulator):
    emulator.script(says(call("break_down")))
    chat = served.chat()
    chat.say("Go")
    view = chat.over()
    (tool,) = tools_of(chat)
    assert tool["state"] == "output-error", tool
    assert view["status"] in ("failed", "finished")
    goes_on(chat, emulator)


@flow("tool that asks by itself")
def test_tool_that_asks(served, emulator, ledger):
    if limits.of(served.name, "tool that asks by itself"):
        # The route for it is there; the package is for Python.
        return
    emulator.script(says(call("send", amount=5, recipient="Sam")))
    chat = served.chat()
    with httpx.stream("POST", f"{served.url}/api/chat", json=chat.body("Go")) as response:
        assert response.status_code == 200
        (approval,) = chat.approvals()
        assert approval["question"] == "Send 5 to Sam?"
        assert ledger.events() == []
        served.answer(approval["approvalId"], True)
        assert "sent 5" in chat.last_words()
    assert ledger.events() == ["send"]


@flow("tool that calls the page by itself")
def test_tool_that_calls_the_page(served, emulator, ledger):
    if limits.of(served.name, "tool that calls the page by itself"):
        return
    emulator.script(says(call("page")))
    chat = served.chat()
    with httpx.stream("POST", f"{served.url}/api/chat", json=chat.body("Go")) as response:
        assert response.status_code == 200
        until(lambda: [part for part in tools_of(chat) if part["type"] == "tool-play"])
        (played,) = [part for part in tools_of(chat) if part["type"] == "tool-play"]
        path = f"/api/calls/{played['toolCallId']}"
        brought = served.request("POST", path, json={"output": {"playing": 1}})
        assert brought.status_code == 200, brought.text
        (tool,) = [part for part in chat.parts() if part["type"] == "dynamic-tool"]
        assert (tool["state"], tool["output"]) == ("output-available", {"page": {"playing": 1}})
