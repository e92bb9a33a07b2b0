"""What goes over the wire, and what comes of the answers."""

import asyncio
import json
import re
import threading
from pathlib import Path

import pytest

from adk_stream import (
    Cancelled,
    Denied,
    Failed,
    NotConnected,
    Refused,
    TimedOut,
    approve,
    ask,
    on_page,
)
from conftest import Context
from fake_adk_stream import KEY, FakeAdkStream

OPEN = {"decision": None}
YES = {"decision": "approved"}


async def test_an_approval_is_asked_for_with_the_chat_the_call_and_the_key(fake, context):
    await approve(context, "Send $20 to Sam?", timeout=30)
    (ask,) = fake.asked
    assert ask.path == "/api/agent/asks"
    assert ask.headers["Authorization"] == f"Bearer {KEY}"
    assert ask.body == {
        "chat": "chat-1",
        "call": "call-1",
        "nth": 0,
        "ask": {"approval": {"question": "Send $20 to Sam?"}},
        "timeoutMs": 30_000,
    }


async def test_a_page_is_asked_for_its_tool_and_its_output_comes_back(fake, context):
    fake.says({"decision": "output", "output": {"playing": 2}})
    assert await on_page(context, "change_bgm", {"track": 2}) == {"playing": 2}
    (ask,) = fake.asked
    assert ask.body["ask"] == {"clientCall": {"tool": "change_bgm", "input": {"track": 2}}}
    assert ask.body["timeoutMs"] is None


async def test_a_person_is_asked_for_data_and_it_comes_back(fake, context):
    fake.says({"decision": "output", "output": {"people": 4}})
    schema = {"type": "object", "properties": {"people": {"type": "integer"}}}
    assert await ask(context, "For how many?", schema, timeout=30) == {"people": 4}
    (asked,) = fake.asked
    assert asked.body["ask"] == {"question": {"question": "For how many?", "schema": schema}}
    assert asked.body["timeoutMs"] == 30_000


@pytest.mark.parametrize(
    ("decision", "error"),
    [
        ({"decision": "denied", "reason": "not now"}, Denied),
        ({"decision": "timed-out"}, TimedOut),
        ({"decision": "cancelled"}, Cancelled),
        ({"decision": "approved"}, Refused),
    ],
)
async def test_what_is_no_data_is_an_exception(fake, context, decision, error):
    fake.says(decision)
    with pytest.raises(error):
        await ask(context, "For how many?", {"type": "integer"})


async def test_the_example_of_the_documents(fake, context):
    fake.says(YES, {"decision": "output", "output": 4}, {"decision": "output", "output": "playing"})
    tool_context = context
    await approve(tool_context, "Send 50 USD to Bob?")
    people = await ask(tool_context, "For how many?", {"type": "integer", "minimum": 1})
    music = await on_page(tool_context, "change_bgm", {"track": 2})
    assert (people, music) == (4, "playing")


async def test_the_requests_of_the_documents_are_those_of_the_package(fake, context):
    text = (Path(__file__).parents[3] / "docs/adk.md").read_text()
    (block,) = re.findall(r"```http\n(.*?)```", text, re.DOTALL)
    request, key, *bodies = block.strip().split("\n")
    first, second, third = (json.loads(body) for body in bodies)
    fake.says(YES, {"decision": "output", "output": 4}, {"decision": "output", "output": "playing"})
    await approve(context, first["ask"]["approval"]["question"], timeout=30)
    asked = second["ask"]["question"]
    assert await ask(context, asked["question"], asked["schema"]) == 4
    call = third["ask"]["clientCall"]
    await on_page(context, call["tool"], call["input"])
    sent = [ask.body for ask in fake.asked]
    place = {"chat": "chat-1", "call": "call-1"}
    # Without a timeout, the field may be left out.
    untimed = [{"timeoutMs": None, **body, **place} for body in (second, third)]
    assert sent == [{**first, **place}, *untimed]
    sent_first = fake.asked[0]
    assert f"POST {sent_first.path}" == request
    authorization = f"Authorization: {sent_first.headers['Authorization']}"
    assert key.replace("ADK_STREAM_AGENT_KEY", KEY) == authorization


async def test_an_output_may_be_nothing(fake, context):
    fake.says({"decision": "output", "output": None})
    assert await on_page(context, "change_bgm") is None


async def test_an_open_question_is_asked_again_in_the_same_words(fake, context):
    fake.says(OPEN, OPEN, YES)
    await approve(context, "Sure?")
    assert [ask.body for ask in fake.asked] == [fake.asked[0].body] * 3


@pytest.mark.parametrize(
    ("decision", "error", "text"),
    [
        ({"decision": "denied", "reason": "too much"}, Denied, "Denied: too much"),
        ({"decision": "denied", "reason": None}, Denied, "Denied"),
        ({"decision": "timed-out"}, TimedOut, "Approval request timed out"),
        ({"decision": "cancelled", "reason": "stopped"}, Cancelled, "Cancelled: stopped"),
        ({"decision": "cancelled"}, Cancelled, "Cancelled"),
        ({"decision": "output", "output": 1}, Refused, "adk-stream decided 'output', which"),
    ],
)
async def test_what_is_no_yes_is_an_exception(fake, context, decision, error, text):
    fake.says(decision)
    with pytest.raises(error) as raised:
        await approve(context, "Sure?")
    assert str(raised.value).startswith(text)


async def test_reasons_can_be_read(fake, context):
    fake.says(
        {"decision": "denied", "reason": "too much"}, {"decision": "cancelled", "reason": "stopped"}
    )
    with pytest.raises(Denied) as denied:
        await approve(context, "Sure?")
    with pytest.raises(Cancelled) as cancelled:
        await approve(context, "Sure?")
    assert (denied.value.reason, cancelled.value.reason) == ("too much", "stopped")


async def test_a_tool_that_fails_on_the_page_is_an_exception(fake, context):
    fake.says({"decision": "failed", "error": "no signal"})
    with pytest.raises(Failed, match="no signal"):
        await on_page(context, "get_location")


async def test_asks_of_a_run_are_numbered_and_a_new_run_begins_again(fake, context):
    fake.says(YES, {"decision": "output", "output": 1}, YES)
    await approve(context, "Sure?")
    await on_page(context, "change_bgm")
    await approve(Context(), "Sure?")
    assert [ask.body["nth"] for ask in fake.asked] == [0, 1, 0]


async def test_a_session_without_a_mark_is_known_by_its_id(fake):
    for state in ({}, {"adk_stream": "?"}, {"adk_stream": {}}):
        await approve(Context(state=state), "Sure?")
    assert [ask.body["chat"] for ask in fake.asked] == ["session-1"] * 3


async def test_outside_of_a_call_nothing_can_be_asked(fake):
    with pytest.raises(NotConnected, match="from inside a tool"):
        await approve(Context(function_call_id=None), "Sure?")
    assert fake.asked == []


async def test_a_server_that_is_busy_is_asked_again_when_it_says_so(fake, context):
    busy = (503, {"error": {"message": "the store is away"}}, {"Retry-After": "0"})
    fake.says(busy, (502, b"<html>", {}), YES)
    await approve(context, "Sure?")
    assert len(fake.asked) == 3


async def test_an_answer_that_breaks_off_is_asked_for_again(fake, context):
    fake.says(fake.cut(), YES)
    await approve(context, "Sure?")
    assert [ask.body["nth"] for ask in fake.asked] == [0, 0]


async def test_a_server_that_restarts_is_waited_for(fake, context):
    fake.says(fake.cut())
    port = fake.server.server_address[1]
    waiting = asyncio.create_task(approve(context, "Sure?"))
    while not fake.asked:
        await asyncio.sleep(0.01)
    await asyncio.to_thread(fake.close)
    await asyncio.sleep(0.2)
    assert not waiting.done()
    again = FakeAdkStream(port)
    await asyncio.wait_for(waiting, 10)
    assert len(again.asked) == 1
    again.close()


async def test_a_server_that_does_not_come_back_is_given_up(fake, context, monkeypatch):
    monkeypatch.setenv("ADK_STREAM_URL", "http://127.0.0.1:1")
    with pytest.raises(NotConnected, match=r"adk-stream is not there at http://127\.0\.0\.1:1: "):
        await asyncio.wait_for(approve(context, "Sure?", timeout=0.3), 5)


@pytest.mark.parametrize(
    ("status", "error", "text"),
    [
        (401, NotConnected, "does not accept the key in ADK_STREAM_AGENT_KEY: no such key"),
        (404, NotConnected, "does not know this call: no such key"),
        (422, Refused, r"does not take the ask \(422\): no such key"),
    ],
)
async def test_what_the_server_refuses_is_said_with_its_words(fake, context, status, error, text):
    fake.says((status, {"error": {"code": "x", "message": "no such key"}}))
    with pytest.raises(error, match=text):
        await approve(context, "Sure?")
    assert len(fake.asked) == 1


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}"])
async def test_an_answer_that_is_not_understood_is_said(fake, context, body):
    fake.says((200, body))
    with pytest.raises(Refused, match="not understood"):
        await approve(context, "Sure?")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("ADK_STREAM_AGENT_KEY", "", "ADK_STREAM_AGENT_KEY is not set"),
        ("ADK_STREAM_AGENT_KEY", "schlüssel", "no header can carry"),
        ("ADK_STREAM_URL", "ftp://x", "ADK_STREAM_URL is no address"),
    ],
)
async def test_bad_settings_are_said_at_once(fake, context, monkeypatch, name, value, text):
    monkeypatch.setenv(name, value)
    with pytest.raises(NotConnected, match=text):
        await asyncio.wait_for(approve(context, "Sure?"), 5)


async def test_a_tool_that_is_cancelled_lets_go_of_the_server(fake, context):
    fake.says(fake.wait_for_the_client_to_leave())
    waiting = asyncio.create_task(approve(context, "Sure?"))
    while not fake.asked:
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, 5)
    assert await asyncio.to_thread(fake.gone.wait, 5)


async def test_two_asks_do_not_wait_for_each_other(fake):
    first = threading.Event()
    fake.says(fake.hold(first, YES))
    slow = asyncio.create_task(approve(Context(), "Sure?"))
    while not fake.asked:
        await asyncio.sleep(0.01)
    await asyncio.wait_for(approve(Context(function_call_id="call-2"), "Sure?"), 5)
    assert not slow.done()
    first.set()
    await asyncio.wait_for(slow, 5)


async def test_the_event_loop_goes_on_while_a_person_thinks(fake, context):
    answered = threading.Event()
    fake.says(fake.hold(answered, YES))
    waiting = asyncio.create_task(approve(context, "Sure?"))
    while not fake.asked:
        await asyncio.sleep(0)
    for _ in range(1000):
        await asyncio.sleep(0)
    assert not waiting.done()
    answered.set()
    await asyncio.wait_for(waiting, 5)
