"""Faults of a model, through a server that translates them: each has a code that a page can read."""

import pytest


def failed(chat):
    view = chat.over()
    assert view["status"] == "failed", view
    return view["error"]


def test_rate_limit_is_reported(chat, emulator):
    emulator.script({"on": "generate", "status": {"code": 429, "retryAfterSeconds": 17}})
    chat.say("hi")
    assert failed(chat)["code"] == "rate_limited"


# By the Responses API, LiteLLM begins an answer before it asks the model: then nothing is asked again.
@pytest.mark.parametrize("api", ["chat-completions", "messages"])
def test_rate_limit_that_passes_is_not_seen(chat, emulator):
    emulator.script({"on": "generate", "times": 1, "status": {"code": 429}})
    chat.say("hi")
    assert chat.over()["status"] == "finished"


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "agent_bad_request"), (404, "agent_not_found"), (503, "agent_unavailable")],
)
def test_refusals_have_their_codes(chat, api, emulator, status, code):
    emulator.script({"on": "generate", "status": {"code": status}})
    chat.say("hi")
    # By the Messages API, LiteLLM 1.103.7 calls each of them an error of its own, with the status 500.
    assert failed(chat)["code"] == ("agent_unavailable" if api == "messages" else code)


def test_empty_answer_is_reported(chat, emulator):
    emulator.script({"on": "generate", "empty": True})
    chat.say("hi")
    assert failed(chat)["code"] == "agent_empty_response"


def test_stream_that_is_cut_is_reported(chat, emulator):
    emulator.script({"on": "generate", "paceMs": 5, "cut": {"after": 2}})
    chat.say("Tell me a long story about nothing at all")
    # LiteLLM sends an error in its own stream, which is not cut.
    assert failed(chat)["code"] == "agent_unavailable"


def test_call_to_a_tool_that_does_not_exist_is_answered(chat, emulator):
    call = {"functionCall": {"name": "launch_rocket", "args": {}}}
    content = {"role": "model", "parts": [call]}
    answer = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    emulator.script({"on": "generate", "times": 1, "respond": [answer]})
    chunks = chat.say("Launch")
    (wrong,) = [chunk for chunk in chunks if chunk["type"] == "tool-input-error"]
    assert wrong["errorText"] == "There is no tool launch_rocket."
    assert chat.over()["status"] == "finished"
