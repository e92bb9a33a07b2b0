"""What a page does with an agent, behind every ADK."""

from contextlib import contextmanager

import httpx
import pytest

from adk import call, says_to
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
    # Where the history is sent as text, the model repeats it.
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
    emulator.script(says_to("Go", call("look", at="Oslo")))
    chat = served.chat()
    chat.say("Go")
    (tool,) = [part for part in chat.parts() if part["type"] == "dynamic-tool"]
    assert (tool["state"], tool["output"]) == ("output-available", {"seen": "Oslo"})
    assert "seen Oslo" in chat.last_words()
    assert ledger.events() == ["look"]


@flow("approve")
def test_approve(served, emulator, ledger):
    emulator.script(says_to("Go", call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    assert ledger.events() == []
    answer(chat, True)
    assert "paid ann" in chat.last_words()
    assert ledger.paid("ann") == 1
    goes_on(chat)


@flow("deny with a reason")
def test_deny(served, emulator, ledger):
    emulator.script(says_to("Go", call("pay", to="ann")))
    chat = served.chat()
    chat.say("Go")
    answer(chat, False, "too much")
    assert chat.last_words() == "You denied the call of pay: too much."
    assert ledger.events() == []
    goes_on(chat)


@flow("approve one, deny one")
def test_approve_one_and_deny_one(served, emulator, ledger):
    emulator.script(says_to("Go", call("pay", "a", to="ann"), call("pay", "b", to="ben")))
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
    emulator.script(says_to("Go", call("play", track=1)))
    chat = served.chat()
    chat.say("Go")
    bring(chat, {"playing": 1})
    assert "playing 1" in chat.last_words()
    goes_on(chat)


@flow("page tool behind a confirmation")
def test_page_tool_behind_a_confirmation(served, emulator):
    emulator.script(says_to("Go", call("locate")))
    chat = served.chat()
    chat.say("Go")
    answer(chat, True)
    until(lambda: [part["state"] for part in tools_of(chat)] == ["input-available"])
    bring(chat, {"city": "Oslo"})
    assert "city Oslo" in chat.last_words()
    goes_on(chat)


@flow("long-running tool")
def test_long_running(served, emulator):
    emulator.script(says_to("Go", call("order")))
    chat = served.chat()
    chat.say("Go")
    until(lambda: chat.view()["status"] == "parked")
    bring(chat, {"status": "delivered"})
    assert "delivered" in chat.last_words()
    goes_on(chat)


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
    emulator.script(says_to("Go", call("doze", seconds=1)))
    chat = served.chat()
    url = f"{served.url}/api/chat"
    with httpx.stream("POST", url, json=chat.body("Go")) as response:
        assert response.status_code == 200
        until(lambda: "doze" in ledger.events())
        assert served.request("POST", f"/api/chat/{chat.id}/stop").json() == {"stopped": True}
    goes_on(chat)
    # Some end the tool with the run, others run on and have their model asked.
    until(lambda: {"awake", "cancelled"} & {*ledger.events()})
    goes_on(chat)
    asked = [str(request["contents"]) for request in emulator.asked()]
    # Whatever ADK does meanwhile, the model gets nothing of it in this chat.
    sent = [contents for contents in asked if "Hello again" in contents]
    assert len(sent) >= 2 and not any("slept" in contents for contents in sent)


ERRORS = {
    "rate_limited": {"status": {"code": 429}},
    "agent_bad_request": {"status": {"code": 400}},
    "agent_unauthorized": {"status": {"code": 403}},
    "agent_unavailable": {"status": {"code": 503}},
}


@flow("errors of the model")
def test_errors(served, emulator):
    for code, answer in ERRORS.items():
        emulator.script({"on": "generate", "contains": "Fail", **answer})
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
    assert view["error"]["code"] in ("agent_blocked", "agent_empty_response"), view["error"]
    goes_on(chat, emulator)


@flow("tool that raises")
def test_tool_that_raises(served, emulator):
    emulator.script(says_to("Go", call("break_down")))
    chat = served.chat()
    chat.say("Go")
    view = chat.over()
    (tool,) = tools_of(chat)
    assert tool["state"] == "output-error", tool
    assert view["status"] in ("failed", "finished")
    goes_on(chat, emulator)


@contextmanager
def asked(served, chat):
    """A message of a client that stays connected while a tool asks."""
    with httpx.stream("POST", f"{served.url}/api/chat", json=chat.body("Go")) as response:
        assert response.status_code == 200
        yield


@flow("tool that asks by itself")
def test_tool_that_asks(served, emulator, ledger):
    emulator.script(says_to("Go", call("send", amount=5, recipient="Sam")))
    chat = served.chat()
    with asked(served, chat):
        (approval,) = chat.approvals()
        assert approval["question"] == "Send 5 to Sam?"
        assert ledger.events() == []
        served.answer(approval["approvalId"], True)
        assert "sent 5" in chat.last_words()
    assert ledger.events() == ["send"]


@flow("tool that asks by itself")
def test_tool_that_is_denied(served, emulator, ledger):
    emulator.script(says_to("Go", call("send", amount=5, recipient="Sam")))
    chat = served.chat()
    with asked(served, chat):
        answer(chat, False, "too much")
        assert chat.last_words() == "You denied the call of send: too much."
    assert ledger.events() == []
    goes_on(chat)


@flow("tool that asks by itself")
def test_tool_that_asks_in_the_middle(served, emulator):
    emulator.script(says_to("Go", call("ask", question="Shall I?")))
    chat = served.chat()
    with asked(served, chat):
        (approval,) = chat.approvals()
        assert approval["question"] == "Shall I?"
        served.answer(approval["approvalId"], True)
        (tool,) = [part for part in chat.parts() if part["type"] == "dynamic-tool"]
        assert (tool["state"], tool["output"]) == ("output-available", {"answer": "yes"})


@flow("tool that calls the page by itself")
def test_tool_that_calls_the_page(served, emulator):
    emulator.script(says_to("Go", call("page")))
    chat = served.chat()
    with asked(served, chat):
        until(lambda: [part for part in tools_of(chat) if part["type"] == "tool-play"])
        (played,) = [part for part in tools_of(chat) if part["type"] == "tool-play"]
        path = f"/api/calls/{played['toolCallId']}"
        brought = served.request("POST", path, json={"output": {"playing": 1}})
        assert brought.status_code == 200, brought.text
        (tool,) = [part for part in chat.parts() if part["type"] == "dynamic-tool"]
        assert (tool["state"], tool["output"]) == ("output-available", {"page": {"playing": 1}})
