"""What a page sees of a model that streams what it should not, behind LiteLLM."""

from scripted_model import calls, chunk


def of(chunks, kind):
    return [chunk for chunk in chunks if chunk["type"] == kind]


def failed(chat):
    view = chat.over()
    assert view["status"] == "failed", view
    return view["error"]


def test_broken_arguments_are_shown_and_nobody_is_asked(scripted_chat, scripted):
    scripted.answer(calls(("call_1", "process_payment", '{"amount": 20, "recip')))
    chunks = scripted_chat.say("Pay")
    (wrong,) = of(chunks, "tool-input-error")
    assert (wrong["toolName"], wrong["input"]) == ("process_payment", '{"amount": 20, "recip')
    assert not of(chunks, "tool-approval-request")
    # The model gets the error, and continues.
    assert scripted_chat.last_words() == "That is all."
    assert len(scripted.asked) == 2
    assert "invalid_arguments" in str(scripted.asked[1]["messages"])


def test_calls_with_one_id_are_two_calls(scripted_chat, api, scripted):
    oslo, rome = '{"location": "Oslo"}', '{"location": "Rome"}'
    scripted.answer(calls(("call_1", "get_weather", oslo), ("call_1", "get_weather", rome)))
    chunks = scripted_chat.say("Weather")
    assert scripted_chat.over()["status"] == "finished"
    if api == "messages":
        # LiteLLM 1.103.7 makes one call of them, whose input is no JSON.
        (wrong,) = of(chunks, "tool-input-error")
        assert "}{" in wrong["input"]
        return
    outputs = of(chunks, "tool-output-available")
    assert {output["output"]["location"] for output in outputs} == {"Oslo", "Rome"}
    assert len({output["toolCallId"] for output in outputs}) == 2


def test_empty_choice_is_reported(scripted_chat, scripted):
    scripted.answer([chunk({"role": "assistant"}), chunk({}, "stop")])
    scripted_chat.say("hi")
    assert failed(scripted_chat)["code"] == "agent_empty_response"


def test_call_of_an_unknown_tool_is_answered(scripted_chat, scripted):
    scripted.answer(calls(("call_1", "launch_rocket", "{}")))
    chunks = scripted_chat.say("Launch")
    (wrong,) = of(chunks, "tool-input-error")
    assert wrong["errorText"] == "There is no tool launch_rocket."
    assert scripted_chat.last_words() == "That is all."
    assert "There is no tool launch_rocket." in str(scripted.asked[1]["messages"])


def test_rate_limit_with_a_time_says_when(scripted_chat, api, scripted):
    scripted.refuse(429, retry_after="17")
    scripted_chat.say("hi")
    error = failed(scripted_chat)
    assert error["code"] == "rate_limited"
    if api == "messages":
        # There, LiteLLM 1.103.7 drops the headers of who refused it.
        assert "retryAfterMs" not in error
    else:
        assert error["retryAfterMs"] == 17_000
        # Longer than a page is kept waiting: it gets the time at once.
        assert len(scripted.asked) == 1


def test_rate_limit_without_a_time_is_tried_again(scripted_chat, scripted):
    scripted.refuse(429)
    scripted_chat.say("hi")
    error = failed(scripted_chat)
    assert error["code"] == "rate_limited"
    assert "retryAfterMs" not in error
    assert len(scripted.asked) == 4


def test_stream_that_is_cut_each_time_is_reported(scripted_chat, scripted):
    # LiteLLM reads ahead: a cut that it sees before it has passed anything on is a refusal, which is
    # tried again. test_faults.py cuts a stream of which something was seen.
    story = [chunk({"role": "assistant", "content": "Once upon"}), chunk({"content": " a time"})]
    for _ in range(4):
        scripted.answer(story, is_cut=True)
    scripted_chat.say("Tell me a story")
    assert failed(scripted_chat)["code"] == "agent_unavailable"
