"""adk-stream in front of ADK: one answer wins, and what tools ask by themselves is answered."""

import signal
import threading

import httpx
import pytest

from adk import call, says
from fake_adk_stream import KEY
from front import front

RACES = 20


@pytest.fixture(scope="module")
def fronted(servers, tmp_path_factory):
    server = servers["fronted"].ready()
    store = f"sqlite:{tmp_path_factory.mktemp('fronted')}/chats.db"
    settings = {"port": server.front_port, "agent_key": KEY, "store": store, "lease": 1}
    with front(server, "resumable", **settings) as served:
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


def books(emulator, fronted):
    """A chat in which a tool has asked for how many, and what it asks."""
    calls(emulator, call("table", "t", day="Friday"))
    chat = fronted.chat()
    chat.say("Go")
    (question,) = chat.approvals()
    return chat, question


def test_a_tool_gets_the_data_that_it_asks_for(fronted, emulator, ledger):
    chat, question = books(emulator, fronted)
    assert (question["kind"], question["question"]) == ("question", "For how many on Friday?")
    assert question["schema"]["required"] == ["people"]
    for wrong in ({"people": "four"}, {"people": 0}, {}, {"people": 4, "wine": True}, 4):
        refused = fronted.reply(question["approvalId"], {"answer": wrong})
        assert refused.status_code == 400, refused.text
        assert refused.json()["error"]["code"] == "invalid_answer"
        assert refused.json()["error"]["fields"], refused.text
    assert ledger.entries() == []

    digest = question["digest"]
    answer = {"people": 4, "name": "Ann"}
    taken = fronted.reply(question["approvalId"], {"answer": answer, "digest": digest})
    assert taken.status_code == 200, taken.text
    assert "4" in chat.last_words()
    assert [entry["asked"] for entry in ledger.entries()] == [answer]
    late = fronted.reply(question["approvalId"], {"answer": {"people": 2}})
    assert late.status_code == 409
    assert late.json()["decision"]["answer"] == answer


def test_a_page_answers_what_a_tool_asks_for(fronted, emulator, ledger):
    """As the stock client sends the output of the call that it is shown."""
    chat, question = books(emulator, fronted)
    messages = chat.view()["messages"]
    (asked,) = [part for part in messages[-1]["parts"] if part["type"] == "tool-ask_user"]
    assert asked["toolCallId"] == question["toolCallId"]
    assert asked["callProviderMetadata"]["adkStream"]["question"]["digest"] == question["digest"]
    asked.update(state="output-available", output={"people": 3})
    body = {"id": chat.id, "messages": messages, "trigger": "submit-message"}
    answer = fronted.request("POST", "/api/chat", json=body)
    assert answer.status_code == 200, answer.text
    assert "3" in chat.last_words()
    assert [entry["asked"] for entry in ledger.entries()] == [{"people": 3}]


def test_a_tool_learns_that_a_person_declines(fronted, emulator, ledger):
    chat, question = books(emulator, fronted)
    declined = {"declined": True, "reason": "not today"}
    assert fronted.reply(question["approvalId"], declined).status_code == 200
    assert "not today" in chat.last_words()
    assert ledger.entries() == []


def test_a_question_of_a_tool_ends_with_its_server_and_can_be_asked_again(
    fronted, emulator, ledger
):
    """ADK cancels a tool whose listener is gone, so that an answer would reach nobody."""
    chat, question = books(emulator, fronted)
    fronted.end(signal.SIGKILL)
    fronted.begin()
    chat.over()
    assert chat.approvals(0) == []
    assert "unknown" in [event["outcome"] for event in chat.happened("call-settled")]
    late = fronted.reply(question["approvalId"], {"answer": {"people": 4}})
    assert late.status_code == 409, late.text
    assert ledger.entries() == []

    calls(emulator, call("table", "again", day="Friday"))
    chat.say("Go")
    (again,) = chat.approvals()
    assert fronted.reply(again["approvalId"], {"answer": {"people": 4}}).status_code == 200
    assert "4" in chat.last_words()
    assert len(ledger.entries()) == 1
