"""Turns through adk-stream and the AG-UI agent of a framework: what a page sees, and what was paid."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

LOCATE = {
    "name": "locate",
    "description": "Where the person is.",
    "inputSchema": {"type": "object", "properties": {}},
}


def of(chunks, kind):
    return [chunk for chunk in chunks if chunk["type"] == kind]


def words(chunks):
    return "".join(chunk["delta"] for chunk in of(chunks, "text-delta"))


def last_words(chat):
    """The agent's last text, once the turn is over. A state may come after it."""
    return [part["text"] for part in chat.parts() if part["type"] == "text"][-1]


def test_text_is_streamed_and_remembered(chat):
    assert words(chat.say("Hello there")) == "You said: Hello there"
    assert words(chat.say("And again")) == "You said: And again"


def test_own_tool_is_shown_with_its_output(chat):
    chunks = chat.say("How is the weather?")
    (call,) = of(chunks, "tool-input-available")
    assert (call["toolName"], call["input"]) == ("get_weather", {"city": "Oslo"})
    (output,) = of(chunks, "tool-output-available")
    assert output["output"]["condition"] == "Cloudy"
    assert "Cloudy" in words(chunks)


def test_payment_runs_once_it_is_approved(chat, front, behind):
    before = behind.paid()
    chunks = chat.say("Please pay")
    assert len(of(chunks, "tool-approval-request")) == 1
    (approval,) = chat.approvals()
    assert approval["input"] == {"amount": 5}
    assert behind.paid() == before
    assert front.answer(approval["approvalId"], True).status_code == 200
    assert '"paid"' in last_words(chat)
    assert behind.paid() == [*before, 5]
    # The agent has the conversation as the journal has it.
    assert words(chat.say("Thanks")) == "You said: Thanks"


def test_denied_payment_does_not_run_and_the_agent_gets_the_reason(chat, front, behind):
    before = behind.paid()
    chat.say("Please pay")
    (approval,) = chat.approvals()
    assert front.answer(approval["approvalId"], False, "Too much.").status_code == 200
    assert "Too much." in last_words(chat)
    assert behind.paid() == before


def test_page_runs_its_tool_and_the_agent_gets_the_output(chat, front):
    (call,) = of(chat.say("where am I?", tools=[LOCATE]), "tool-input-available")
    path = f"/api/calls/{call['toolCallId']}"
    settled = front.request("POST", path, json={"output": "Oslo"})
    assert settled.status_code == 200, settled.text
    assert "Oslo" in last_words(chat)


@pytest.mark.parametrize("framework", ["langgraph", "langgraph-default"], indirect=True)
def test_interrupt_with_a_schema_asks_for_data(chat, front):
    chat.say("Please book")
    (question,) = chat.approvals()
    assert (question["kind"], question["question"]) == ("question", "For how many at Maru?")
    assert question["schema"]["required"] == ["people"]
    assert question["expiresAt"] > question["askedAt"]
    path = f"/api/approvals/{question['approvalId']}"
    wrong = front.request("POST", path, json={"answer": {"people": 40}})
    assert wrong.status_code == 400, wrong.text
    assert wrong.json()["error"]["code"] == "invalid_answer"
    # The question outlives the server that asked it.
    front.end(signal.SIGKILL)
    front.begin()
    given = front.request("POST", path, json={"answer": {"people": 4}})
    assert given.status_code == 200, given.text
    assert '"people": 4' in last_words(chat)


@pytest.mark.parametrize("framework", ["langgraph", "langgraph-default"], indirect=True)
def test_who_declines_gives_no_data(chat, front):
    chat.say("Please book")
    (question,) = chat.approvals()
    path = f"/api/approvals/{question['approvalId']}"
    assert front.request("POST", path, json={"declined": True}).status_code == 200
    chat.over()
    assert "people" not in str(chat.view()["messages"][-1]["parts"][-1])


def test_answer_after_a_kill_reaches_the_agent(chat, front, behind):
    before = behind.paid()
    chat.say("Please pay")
    (approval,) = chat.approvals()
    front.end(signal.SIGKILL)
    front.begin()
    assert front.answer(approval["approvalId"], True).status_code == 200
    assert '"paid"' in last_words(chat)
    assert behind.paid() == [*before, 5]


def test_one_of_two_contrary_answers_counts(front, behind):
    for _ in range(5):
        before = behind.paid()
        chat = front.chat()
        chat.say("Please pay")
        (approval,) = chat.approvals()
        ids = [approval["approvalId"]] * 2
        with ThreadPoolExecutor(2) as pool:
            yes, no = pool.map(front.answer, ids, (True, False))
        yes, no = yes.status_code, no.status_code
        assert sorted([yes, no]) == [200, 409]
        chat.parts()
        assert behind.paid() == [*before, *([5] if yes == 200 else [])]
