"""/run_live: what comes, and what blocks."""

import array
import base64
import math
import time

import pytest
from websockets.exceptions import ConnectionClosed

from adk import call, calls_live, parts_of, response, text
from test_session import past

HELLO = 'You said: "Hello". I am the demo agent.'


def words(events):
    """What was said, without what is said twice."""
    whole = [event for event in events if event.get("partial") is False]
    return "".join(part for part in parts_of(whole) if isinstance(part, str))


def received(emulator):
    return [entry["data"] for entry in emulator.log("received")]


def test_text_comes_in_pieces_then_whole_then_the_turn_is_complete(adk):
    chat = adk.conversation("live")
    with chat.live() as live:
        live.say(text("Hello"))
        events = live.turn()
    pieces = [event for event in events if event.get("partial")]
    assert "".join(parts_of(pieces)) == words(events)
    assert words(events).startswith(HELLO)
    assert "content" not in events[-1]
    stored = chat.stored()["events"]
    assert parts_of(stored) == ["Hello", words(events)]


def test_sound_comes_with_its_transcript(adk):
    with adk.conversation("live").live("AUDIO") as live:
        live.say(text("Hello"))
        events = live.turn()
    sounds = [
        part["inlineData"]
        for event in events
        for part in event.get("content", {}).get("parts", [])
        if "inlineData" in part
    ]
    assert {sound["mimeType"] for sound in sounds} == {"audio/pcm;rate=24000"}
    transcripts = [event for event in events if "outputTranscription" in event]
    *pieces, whole = [event["outputTranscription"] for event in transcripts]
    assert [event["partial"] for event in transcripts] == [True] * len(pieces) + [False]
    assert whole["text"] == "".join(piece["text"] for piece in pieces)
    assert whole["text"].startswith(HELLO)


def test_speech_is_transcribed_as_the_users(adk, emulator):
    emulator.script(utterances=["What a day"])
    wave = array.array("h", (int(8000 * math.sin(at / 20)) for at in range(16000))).tobytes()
    with adk.conversation("live").live("AUDIO") as live:
        live.send(
            blob={"mime_type": "audio/pcm;rate=16000", "data": base64.b64encode(wave).decode()}
        )
        live.send(audio_stream_end=True)
        events = live.turn()
    transcripts = [event for event in events if "inputTranscription" in event]
    assert {event["author"] for event in transcripts} == {"user"}
    assert "".join(event["inputTranscription"]["text"] for event in transcripts) == "What a day"


def test_new_words_break_off_what_is_said(adk, emulator):
    emulator.script({"on": "answer", "times": 1, "paceMs": 100})
    with adk.conversation("live").live() as live:
        live.say(text("Hello"))
        live.until(lambda event: event.get("partial"))
        live.say(text("Stop"))
        first, second = live.turn(), live.turn()
    (broken,) = [event for event in first if event.get("interrupted")]
    assert HELLO.startswith(words([broken]))
    assert 'You said: "Stop".' in words(second)


def test_a_tool_of_a_model_that_waits(adk, emulator, ledger):
    emulator.script(calls_live(call("look", "l", at="x")))
    chat = adk.conversation("live_waiting", state={"adk_stream": {"chat": "c-1"}})
    with chat.live() as live:
        live.say(text("Go"))
        events = live.turn()
    assert parts_of(events)[:2] == [("call", "l", "look"), ("response", "l", {"seen": "x"})]
    (seen,) = ledger.entries()
    assert (seen["call"], seen["session"], seen["user"]) == ("l", chat.session, "ann")
    assert seen["state"] == {"adk_stream": {"chat": "c-1"}}


def test_adk_is_blocked_while_a_waiting_tool_runs(adk, emulator, ledger):
    """Why tools that ask people should not be waited for."""
    emulator.script(calls_live(call("doze", "d", seconds=1)))
    with adk.conversation("live_waiting").live() as live:
        live.say(text("Go"))
        live.until(lambda event: parts_of([event]) == [("call", "d", "doze")])
        live.say(text("Hello"))
        emulator.logged(lambda entry: "toolCallCancellation" in str(entry))
        assert parts_of([live.next()]) == [("response", "d", {"slept": 1})]
    # The model took the call back, and ADK did not listen.
    assert ledger.events() == ["doze", "awake"]


def test_the_conversation_goes_on_while_another_tool_runs(adk, emulator, ledger):
    waits = calls_live(call("doze", "d", seconds=1))
    waits["respond"].append({"serverContent": {"turnComplete": True}})
    emulator.script(waits)
    with adk.conversation("live").live() as live:
        live.say(text("Go"))
        assert ("call", "d", "doze") in parts_of(live.turn())
        live.say(text("Hello"))
        assert words(live.turn()).startswith(HELLO)
        assert ledger.events() == ["doze"]
        assert parts_of(live.turn())[0] == ("response", "d", {"slept": 1})
    assert ledger.events() == ["doze", "awake"]


def test_calls_of_an_older_model_are_held_back_until_its_turn_is_over(adk, emulator, ledger):
    """ADK 2.13 with a model before Gemini 3 that waits for its tool: they wait for each other."""
    emulator.script(calls_live(call("look", "l", at="x")))
    with adk.conversation("live_old").live() as live:
        live.say(text("Go"))
        emulator.logged(lambda entry: entry["kind"] == "sent" and "toolCall" in str(entry))
        with pytest.raises(TimeoutError):
            live.next(timeout=1)
    assert ledger.entries() == []


def test_a_confirmation_is_refused_in_live_mode(adk, emulator, ledger):
    emulator.script(calls_live(call("pay", "p", to="ann")))
    with adk.conversation("live_waiting").live() as live:
        live.say(text("Go"))
        events = live.turn()
    assert parts_of(events)[1][2]["error"].startswith("This tool call requires confirmation")
    assert "adk_request_confirmation" not in str(parts_of(events))
    assert ledger.entries() == []


def test_a_long_running_call_is_answered_on_the_socket(adk, emulator):
    emulator.script(calls_live(call("play", "p", track=1)))
    with adk.conversation("live_waiting").live() as live:
        live.say(text("Go"))
        (*_, called) = live.until(lambda event: parts_of([event]) == [("call", "p", "play")])
        assert called["longRunningToolIds"] == ["p"]
        live.say(response("p", "play", {"playing": 1}))
        live.turn()
    assert any("tool_response" in frame for frame in received(emulator))


def test_a_tool_that_raises_closes_the_socket(adk, emulator):
    emulator.script(calls_live(call("break_down", "b")))
    with adk.conversation("live_waiting").live() as live:
        live.say(text("Go"))
        with pytest.raises(ConnectionClosed) as closed:
            live.turn()
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1011, "it broke")


def test_a_model_that_closes_closes_the_socket(adk, emulator):
    emulator.script({"on": "answer", "close": {"code": 1011, "reason": "quota"}})
    with adk.conversation("live").live() as live:
        live.say(text("Go"))
        with pytest.raises(ConnectionClosed) as closed:
            live.turn()
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1011, "1011 None. quota")


def test_a_session_that_is_not_there_closes_the_socket(adk):
    chat = adk.conversation("live")
    chat.session = "none"
    with chat.live() as live, pytest.raises(ConnectionClosed) as closed:
        live.next()
    assert closed.value.rcvd.code == 1002


def test_a_client_that_leaves_cancels_the_tool(adk, emulator, ledger):
    emulator.script(calls_live(call("doze", "d", seconds=30)))
    with adk.conversation("live_waiting").live() as live:
        live.say(text("Go"))
        live.until(lambda event: parts_of([event]) == [("call", "d", "doze")])
    end = time.monotonic() + 10
    while "cancelled" not in ledger.events():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_session_that_is_taken_up_again_has_its_past_quoted(adk, emulator):
    """And the model is made to answer it: why a socket that is lost needs a new session."""
    chat = adk.conversation("live")
    with chat.live() as live:
        live.say(text("Hello"))
        live.turn()
    emulator.begin()
    with chat.live() as live:
        live.turn()
    _, history, nudge = received(emulator)[:3]
    assert "[root] said:" in str(history)
    assert history["client_content"]["turnComplete"] is True
    assert nudge == {"realtime_input": {"text": "."}}


@pytest.mark.parametrize("app", ["live", "live_waiting", "live_old"])
def test_a_new_session_with_the_past_goes_on_quietly(adk, emulator, app):
    with adk.conversation(app, events=past()).live() as live:
        live.say(text("Hello"))
        assert words(live.turn()).startswith(HELLO)
    _, history, _ = received(emulator)
    assert history["client_content"]["turnComplete"] is False
    turns = history["client_content"]["turns"]
    assert [turn["role"] for turn in turns] == ["user", "model", "user", "model"]
    assert "functionCall" in str(turns[1])


def test_after_a_go_away_adk_is_silent(adk, emulator):
    """A gap of ADK 2.13 with an API key: the socket stays open, and nobody is there any more."""
    emulator.script({"on": "answer", "times": 1, "goAway": {"timeLeftSeconds": 50, "after": 1}})
    with adk.conversation("live").live() as live:
        live.say(text("Hello"))
        live.next()
        live.say(text("Hello?"))
        with pytest.raises(TimeoutError):
            live.next(timeout=1)
