"""The example: the legacy bridge's tools, on what the emulated model calls by itself."""

import pytest

from adk import confirm, confirmations, parts_of, response, text
from fake_adk_stream import KEY
from front import front, until

PLACE = {"latitude": 35.68, "longitude": 139.65}


def call_of(events, tool):
    (id,) = {part[1] for part in parts_of(events) if part[0] == "call" and part[2] == tool}
    return id


def last_words(events):
    return [part for part in parts_of(events) if isinstance(part, str)][-1]


def test_a_payment_is_made_once_a_person_has_said_yes(example, wallets):
    chat = example.conversation("assistant")
    events = chat.run(text("Send $20 to Sam"))
    id = call_of(events, "process_payment")
    assert wallets.entries() == []
    events = chat.run(confirm(confirmations(events)[id]))
    (paid,) = wallets.entries()
    said = f"I sent $20 to Sam. Transaction {paid['transactionId']}, balance now $980."
    assert last_words(events) == said
    assert (paid["user"], paid["toolCallId"], paid["amount"]) == ("ann", id, 20)


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("Send $2000 to Sam", "Insufficient funds"),
        ("Send 20 EUR to Sam", "The wallet holds USD only."),
    ],
)
def test_a_payment_that_can_not_be_made_says_why(example, wallets, prompt, problem):
    chat = example.conversation("assistant")
    events = chat.run(text(prompt))
    (id,) = confirmations(events).values()
    (_, _, result), *_ = parts_of(chat.run(confirm(id)))
    assert (result["success"], result["error"], result["wallet_balance"]) == (False, problem, 1000)
    assert wallets.entries() == []


def test_the_weather_needs_nobody(example):
    events = example.conversation("assistant").run(text("What is the weather in Tokyo?"))
    assert last_words(events) == "The weather in Tokyo: 18°C, Cloudy, 65% humidity."


def test_music_is_played_by_the_page(example):
    chat = example.conversation("assistant")
    events = chat.run(text("Play track 2"))
    id = call_of(events, "change_bgm")
    assert events[-1]["longRunningToolIds"] == [id]
    events = chat.run(response(id, "change_bgm", {"success": True, "track": 2}))
    assert last_words(events) == "Track 2 is playing now."


def test_the_page_tells_where_the_user_is_behind_an_approval(example):
    chat = example.conversation("assistant")
    events = chat.run(text("Where am I?"))
    id = call_of(events, "get_location")
    assert "Tell the assistant where you are?" in str(events)
    asked = confirmations(events)[id]
    events = chat.run(response(id, "get_location", PLACE), response(asked, "get_location", {}))
    assert "35.68" in last_words(events)


def test_a_flight_asks_twice_and_the_page_sets_the_mood(example, fake, wallets):
    chat = example.conversation("assistant")
    events = chat.run(text("Book a flight to Oslo"))
    assert "Oslo" in last_words(events)
    assert [paid["amount"] for paid in wallets.entries()] == [120]
    fake.says({"decision": "output", "output": {"success": True, "track": 2}})
    events = chat.run(text("Set the mood for London"))
    asked = [ask.body["ask"] for ask in fake.asked]
    assert asked[0] == {"approval": {"question": "Hold a seat to Oslo?"}}
    assert asked[2] == {"clientCall": {"tool": "change_bgm", "input": {"track": 2}}}


@pytest.mark.parametrize(
    ("decision", "amounts"),
    [({"decision": "approved"}, [20]), ({"decision": "denied", "reason": "no"}, [])],
)
def test_a_payment_in_live_mode(example, fake, wallets, decision, amounts):
    fake.says(decision)
    with example.conversation("assistant_live").live() as live:
        live.say(text("Send $20 to Sam"))
        live.until(lambda event: any(part[0] == "response" for part in parts_of([event])))
        live.turn()
    assert [paid["amount"] for paid in wallets.entries()] == amounts
    (ask,) = fake.asked
    assert ask.body["ask"] == {"approval": {"question": "Send 20 USD to Sam?"}}


def test_the_page_in_live_mode(example, fake):
    fake.says({"decision": "approved"}, {"decision": "output", "output": PLACE})
    with example.conversation("assistant_live").live() as live:
        live.say(text("Where am I?"))
        events = live.until(lambda event: any(part[0] == "response" for part in parts_of([event])))
    assert parts_of(events)[-1][2] == PLACE
    assert [list(ask.body["ask"]) for ask in fake.asked] == [["approval"], ["clientCall"]]


def test_a_report_comes_from_a_worker_while_the_chat_goes_on(servers, emulator):
    adk = servers["fronted"].ready()
    with front(adk, "assistant", port=adk.front_port, agent_key=KEY) as served:
        chat = served.chat()
        chunks = chat.say("Write a report about tea")
        outputs = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
        assert outputs == [{"status": "pending", "topic": "tea"}]
        until(lambda: len(chat.happened("step-ended")) == 3)
        tools = {part["type"]: part for part in chat.parts() if "toolCallId" in part}
        assert tools["dynamic-tool"]["output"]["status"] == "pending"
        report = tools["tool-write_report"]["output"]["report"]
        assert report == "All that is known about tea, on one page."
        assert "The report about tea is finished" in chat.last_words()
