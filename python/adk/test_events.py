"""What a run of /run_sse consists of, in which order, and what is said when it goes wrong."""

import time

import pytest

from adk import call, model_parts, parts_of, response, says, text

APPS = ["plain", "resumable"]


def words(events):
    return [part for part in parts_of(events) if isinstance(part, str)]


def test_partial_events_are_repeated_whole_under_one_id(adk):
    events = adk.conversation("plain").run(text("Hello"), streaming=True)
    *partial, whole = events
    assert {event["partial"] for event in partial} == {True}
    assert whole["partial"] is False
    assert "".join(words(partial)) == words([whole])[0]
    assert len({event["id"] for event in events}) == 1


def test_without_streaming_there_are_no_partial_events(adk):
    (event,) = adk.conversation("plain").run(text("Hello"))
    assert "partial" not in event


def test_parallel_calls_are_answered_in_one_event(adk, emulator):
    emulator.script(says(call("doze", "a", seconds=0.2), call("look", "b", at="x")))
    events = adk.conversation("plain").run(text("Go"))
    assert parts_of(events[:2]) == [
        ("call", "a", "doze"),
        ("call", "b", "look"),
        ("response", "a", {"slept": 0.2}),
        ("response", "b", {"seen": "x"}),
    ]
    assert len(events) == 3


def test_calls_without_an_id_get_one(adk, emulator):
    emulator.script(says(call("look", at="x"), call("look", at="y")))
    first, second, *_ = parts_of(adk.conversation("plain").run(text("Go")))
    assert first[1].startswith("adk-") and second[1].startswith("adk-") and first[1] != second[1]


@pytest.mark.parametrize("tool", ["doze", "block"])
@pytest.mark.parametrize("streaming", [True, False])
def test_a_call_is_reported_before_its_tool_is_done(adk, emulator, tool, streaming):
    emulator.script(says(call(tool, "a", seconds=1)))
    first_at = {}
    for event in adk.conversation("plain").stream(text("Go"), streaming=streaming):
        for kind, *_ in (part for part in parts_of([event]) if isinstance(part, tuple)):
            first_at.setdefault(kind, time.time())
    assert first_at["response"] - first_at["call"] > 0.5


def test_thoughts_are_marked(adk, emulator):
    emulator.script(says({"text": "Hm.", "thought": True}, text("Hello")))
    (event,) = adk.conversation("plain").run(text("Go"))
    assert event["content"]["parts"][0] == {"text": "Hm.", "thought": True}


def test_a_transfer_changes_the_author(adk, emulator):
    emulator.script(says(call("transfer_to_agent", "t", agent_name="helper")))
    chat = adk.conversation("plain")
    events = chat.run(text("Go"))
    assert [event["author"] for event in events] == ["root", "root", "helper"]
    assert events[1]["actions"]["transferToAgent"] == "helper"
    assert [event["author"] for event in chat.run(text("Who?"))] == ["helper"]


def test_an_artifact_comes_as_an_event_of_its_own(adk, emulator):
    emulator.script(says(call("keep", "k")))
    _, result, artifact, _ = adk.conversation("plain").run(text("Go"))
    assert result["actions"]["stateDelta"] == {"mood": "good"}
    assert result["actions"]["artifactDelta"] == {}
    assert artifact["actions"]["artifactDelta"] == {"note.txt": 0}
    assert "content" not in artifact and artifact["id"] == result["id"]


def test_a_tool_that_raises_ends_the_run_and_the_model_gets_nothing(adk, emulator):
    emulator.script(says(call("break_down", "b"), call("look", "l", at="x")))
    chat = adk.conversation("plain")
    _, sibling, event, frame = chat.run(text("Go"))
    assert parts_of([sibling]) == [("response", "l", {"seen": "x"})]
    assert (event["errorCode"], event["errorMessage"]) == ("RuntimeError", "it broke")
    assert frame["error"] == "RuntimeError: it broke"
    assert len(emulator.asked()) == 1
    chat.run(text("And now?"))
    assert model_parts(emulator.asked()[1])[-1] == "And now?"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "INVALID_ARGUMENT"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
    ],
)
def test_what_the_model_refuses_comes_as_an_event_and_then_as_a_frame(adk, emulator, status, code):
    emulator.script({"on": "generate", "status": {"code": status}})
    chat = adk.conversation("plain")
    event, frame = chat.run(text("Go"), streaming=True)
    assert event["errorCode"] == code
    assert code in frame["error"]
    assert set(frame) == {"error", "error_details"}
    # ADK does not try again, and the session continues.
    assert len(emulator.asked()) == 1
    emulator.script()
    assert words(chat.run(text("Hello")))


@pytest.mark.parametrize(
    "fault",
    [{"cut": {"after": 2}}, {"error": {"code": 503, "after": 2}}, {"malformed": {"after": 2}}],
)
def test_a_stream_that_breaks_off_is_an_error_after_what_was_said(adk, emulator, fault):
    emulator.script({"on": "generate", **fault})
    *said, event, frame = adk.conversation("plain").run(text("Go"), streaming=True)
    assert {each["partial"] for each in said} == {True}
    assert event["errorCode"] and frame["error"]


def test_a_model_that_stops_for_a_reason_says_it_in_an_event(adk, emulator):
    emulator.script({"on": "generate", "finish": {"reason": "SAFETY", "after": 2}})
    *_, last = adk.conversation("plain").run(text("Go"), streaming=True)
    assert (last["finishReason"], last["errorCode"]) == ("SAFETY", "SAFETY")


def test_an_empty_stream_is_no_event(adk, emulator):
    emulator.script({"on": "generate", "empty": True})
    assert adk.conversation("plain").run(text("Go"), streaming=True) == []


def test_a_response_to_a_call_that_was_never_made_is_an_error(adk):
    (frame,) = adk.conversation("plain").run(response("none", "look", {}))
    assert frame["error"].startswith(
        "ValueError: Function call not found for function response ids"
    )


# Long-running tools


@pytest.mark.parametrize("app", APPS)
def test_a_long_running_tool_without_a_result_ends_the_run(adk, emulator, app):
    emulator.script(says(call("play", "p", track=1)))
    chat = adk.conversation(app)
    (event,) = chat.run(text("Go"))
    assert event["longRunningToolIds"] == ["p"]
    chat.run(response("p", "play", {"playing": 1}))
    assert model_parts(emulator.asked()[1]) == [
        "Go",
        ("call", "p", "play"),
        ("response", "p", {"playing": 1}),
    ]


@pytest.mark.parametrize("app", APPS)
def test_a_long_running_tool_with_a_result_reaches_the_model_at_once(adk, emulator, app):
    emulator.script(says(call("order", "o")))
    chat = adk.conversation(app)
    chat.run(text("Go"))
    assert model_parts(emulator.asked()[1])[-1] == ("response", "o", {"status": "pending"})
    chat.run(response("o", "order", {"status": "done"}))
    assert model_parts(emulator.asked()[2]) == [
        "Go",
        ("call", "o", "order"),
        ("response", "o", {"status": "done"}),
    ]


def test_a_resumable_app_waits_for_all_results(adk, emulator):
    emulator.script(
        says(call("play", "p", track=1), call("play", "q", track=2), call("look", "l", at="x"))
    )
    chat = adk.conversation("resumable")
    assert parts_of(chat.run(text("Go")))[3:] == [("response", "l", {"seen": "x"})]
    assert parts_of(chat.run(response("p", "play", {"playing": 1}))) == []
    assert len(emulator.asked()) == 1
    chat.run(response("q", "play", {"playing": 2}))
    assert [part for part in model_parts(emulator.asked()[1]) if part[0] == "response"] == [
        ("response", "l", {"seen": "x"}),
        ("response", "p", {"playing": 1}),
        ("response", "q", {"playing": 2}),
    ]


def test_a_plain_app_does_not_wait_and_gemini_refuses_it(adk, emulator):
    """A gap of ADK 2.13: why agents with long-running tools should be resumable."""
    emulator.script(says(call("play", "p", track=1), call("look", "l", at="x")))
    chat = adk.conversation("plain")
    assert [event.get("errorCode") for event in chat.run(text("Go"))][2] == "INVALID_ARGUMENT"
    # The result heals it.
    assert words(chat.run(response("p", "play", {"playing": 1})))


@pytest.mark.parametrize("app", APPS)
def test_a_message_over_an_open_long_running_call_is_refused_by_gemini(adk, emulator, app):
    """Why such a call has to be answered before anything else is said."""
    emulator.script(says(call("play", "p", track=1)))
    chat = adk.conversation(app)
    chat.run(text("Go"))
    assert chat.run(text("Never mind"))[0]["errorCode"] == "INVALID_ARGUMENT"
