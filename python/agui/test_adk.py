"""What is particular to ADK behind ag-ui-adk: several confirmations, messages in place of answers, an agent
that dies, and what the package can't do."""

import pytest

from agui import agent, agui_front, interpreter
from launcher import free_port
from test_flows import LOCATE, last_words, of, words

BOTH = pytest.mark.parametrize("framework", ["adk", "adk-default"], indirect=True)


def contents(gemini):
    """What the model was last sent, as text."""
    return str(gemini.asked()[-1]["contents"])


@BOTH
def test_hint_of_the_tool_is_the_question(chat):
    chat.say("Please pay")
    (approval,) = chat.approvals()
    assert (approval["toolName"], approval["question"]) == ("pay", "Pay 5?")


@BOTH
def test_tool_without_a_hint_asks_with_its_input(chat, front):
    """The tool is declared with require_confirmation, and ADK then has a text of its own, for programs."""
    chat.say("Please refund")
    (approval,) = chat.approvals()
    assert (approval["toolName"], approval["question"]) == (
        "refund",
        'Run refund with {"amount":5}?',
    )
    assert front.answer(approval["approvalId"], True).status_code == 200
    assert last_words(chat) == "Refunded."


@BOTH
def test_each_of_two_payments_gets_its_answer(chat, front, behind):
    before = behind.paid()
    chat.say("Please pay twice")
    five, six = sorted(chat.approvals(2), key=lambda approval: approval["input"]["amount"])
    assert front.answer(five["approvalId"], False).status_code == 200
    assert behind.paid() == before
    assert front.answer(six["approvalId"], True).status_code == 200
    assert '"paid"' in last_words(chat)
    assert behind.paid() == [*before, 6]


@BOTH
def test_message_in_place_of_an_answer_denies_the_payment(chat, behind, gemini):
    before = behind.paid()
    chat.say("Please pay")
    chat.approvals()
    chat.say("And again")
    assert chat.view()["status"] == "finished"
    assert words(chat.say("Thanks")) == "You said: Thanks"
    # ag-ui-adk 0.11.0 gives the model the denial, and not the message that came with it.
    assert "Not paid" in contents(gemini)
    assert behind.paid() == before


@BOTH
def test_page_tool_beside_a_payment_fails_the_turn(chat, front):
    """Of a step with a tool of the page, ag-ui-adk 0.11.0 tells no other calls, and ADK 2.13.0 then sends
    the model fewer results than it made calls."""
    chat.say("Please pay here", tools=[LOCATE])
    (approval,) = chat.approvals()
    assert approval["input"]["originalFunctionCall"]["name"] == "pay"
    assert front.answer(approval["approvalId"], True).status_code == 200
    (call,) = [part for part in chat.view()["messages"][-1]["parts"] if "tool-locate" in str(part)]
    path = f"/api/calls/{call['toolCallId']}"
    assert front.request("POST", path, json={"output": "Oslo"}).status_code == 200
    assert chat.over()["error"]["code"] == "agent_failed"


@pytest.fixture(scope="module")
def settings(gemini):
    return {
        "python": interpreter("agui-adk"),
        "GOOGLE_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
    }


def test_agent_that_dies_fails_the_turn_and_learns_the_chat_again(tmp_path, settings, gemini):
    port = free_port()
    with (
        agent(tmp_path, "adk_agent", port=port, **settings) as behind,
        agui_front(behind, tmp_path) as front,
    ):
        chat = front.chat()
        assert words(chat.say("Hello there")) == "You said: Hello there"
        chunks = chat.say("Please self-destruct")
        assert chat.view()["error"]["code"] == "agent_cut_off"
        assert of(chunks, "error")
        with agent(tmp_path, "adk_agent", port=port, **settings):
            assert words(chat.say("And again")) == "You said: And again"
            # It has kept nothing, and gets the chat from the journal.
            assert "Hello there" in contents(gemini)
