"""adk-stream in front of ADK: one answer wins, and what tools ask by themselves is answered."""

import threading

import httpx
import pytest

from adk import call, says
from fake_adk_stream import KEY
from front import front

RACES = 20


@pytest.fixture(scope="module")
def fronted(servers):
    server = servers["fronted"].ready()
    with front(server, "resumable", port=server.front_port, agent_key=KEY) as served:
        yield served


def calls(emulator, *parts):
    """What the model calls, and then its answer to the outcomes."""
    emulator.script(says(*parts))


def test_a_denial_reaches_the_model_with_its_reason(fronted, emulator, ledger):
    calls(emulator, call("pay", "p", to="ann"))
    chat = fronted.chat()
    chat.say("Go")
    (approval,) = chat.approvals()
    fronted.answer(approval["approvalId"], False, "too much")
    assert chat.last_words() == "You denied the call of pay: too much."
    assert ledger.entries() == []


def test_two_approvals_at_once_run_the_tool_once(fronted, emulator, ledger):
    """The race that ADK by itself loses (test_loss.py)."""
    for nth in range(RACES):
        calls(emulator, call("pay", f"race-{nth}", to="ann"))
        chat = fronted.chat()
        chat.say("Go")
        (approval,) = chat.approvals()
        start = threading.Barrier(2)

        def approve(approval=approval["approvalId"], start=start):
            with httpx.Client(base_url=fronted.url) as client:
                start.wait()
                client.post(f"/api/approvals/{approval}", json={"approved": True})

        both = [threading.Thread(target=approve) for _ in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert "paid" in str(chat.parts())
    assert [entry["call"] for entry in ledger.entries()] == [f"race-{nth}" for nth in range(RACES)]


def test_a_tool_that_asks_by_itself_runs_after_a_yes(fronted, emulator, ledger):
    calls(emulator, call("send", "s", amount=5, recipient="Sam"))
    chat = fronted.chat()
    chat.say("Go")
    (approval,) = chat.approvals()
    assert approval["question"] == "Send 5 to Sam?"
    assert ledger.entries() == []
    fronted.answer(approval["approvalId"], True)
    assert "sent 5" in chat.last_words()
    assert ledger.events() == ["send"]


def test_a_tool_that_asks_by_itself_does_not_run_after_a_no(fronted, emulator, ledger):
    calls(emulator, call("send", "s", amount=5, recipient="Sam"))
    chat = fronted.chat()
    chat.say("Go")
    (approval,) = chat.approvals()
    fronted.answer(approval["approvalId"], False, "too much")
    assert "too much" in chat.last_words()
    assert ledger.entries() == []


def test_questions_of_parallel_calls_wait_side_by_side(fronted, emulator, ledger):
    calls(
        emulator,
        call("send", "a", amount=1, recipient="Ann"),
        call("send", "b", amount=2, recipient="Ben"),
    )
    chat = fronted.chat()
    chat.say("Go")
    asked = {approval["question"]: approval["approvalId"] for approval in chat.approvals(2)}
    fronted.answer(asked["Send 2 to Ben?"], True)
    fronted.answer(asked["Send 1 to Ann?"], False)
    assert "sent 2" in chat.last_words()
    assert ledger.events() == ["send"]


def test_a_question_that_nobody_answers_in_time_is_a_no(fronted, emulator, ledger):
    calls(emulator, call("hurry", "h"))
    chat = fronted.chat()
    chat.say("Go")
    assert "Nobody answered in time" in chat.last_words()
    assert ledger.entries() == []
