"""Turns through adk-stream, LiteLLM and the emulator: what a page sees, and what the model got."""

import pytest


def of(chunks, kind):
    return [chunk for chunk in chunks if chunk["type"] == kind]


def words(chunks):
    return "".join(chunk["delta"] for chunk in of(chunks, "text-delta"))


def responses(emulator):
    """What the model was last sent of its calls, as LiteLLM sends it."""
    parts = [part for content in emulator.asked()[-1]["contents"] for part in content["parts"]]
    sent = [part.get("functionResponse") or part.get("function_response") for part in parts]
    return [response["response"] for response in sent if response]


def test_text_is_streamed(chat, emulator):
    chunks = chat.say("Hello there")
    assert len(of(chunks, "text-delta")) > 1
    assert "Hello there" in words(chunks)
    assert chat.over()["status"] == "finished"
    metadata = chat.over()["messages"][-1]["metadata"]
    assert metadata["usage"]["totalTokens"] > 0


def test_own_tool_runs_and_the_model_gets_the_output(chat, emulator):
    chunks = chat.say("What is the weather in Tokyo?")
    (output,) = of(chunks, "tool-output-available")
    assert output["output"]["condition"] == "Cloudy"
    assert "Tokyo" in words(chunks)
    assert responses(emulator)[-1]["output"]["condition"] == "Cloudy"


def test_payment_runs_once_it_is_approved(chat, front, emulator):
    chunks = chat.say("Send $20 to Sam")
    assert len(of(chunks, "tool-approval-request")) == 1
    (approval,) = chat.approvals()
    assert approval["input"]["recipient"] == "Sam"
    assert front.answer(approval["approvalId"], True).status_code == 200
    assert "I sent $20 to Sam" in chat.last_words()
    assert "output" in responses(emulator)[-1]


def test_denied_payment_tells_the_model_why(chat, front, emulator):
    chat.say("Send $20 to Sam")
    (approval,) = chat.approvals()
    assert front.answer(approval["approvalId"], False, "Too much.").status_code == 200
    chat.parts()
    assert responses(emulator)[-1] == {"error": "Denied: Too much."}
    assert not chat.happened("call-started")


# By the Messages API, LiteLLM 1.103.7 joins the inputs of calls that are made at once into one text.
@pytest.mark.parametrize("api", ["chat-completions", "responses"])
def test_parallel_calls_are_asked_about_together(chat, front, emulator):
    chunks = chat.say("Send $20 to Sam and $30 to Ann")
    assert len(of(chunks, "tool-approval-request")) == 2
    first, second = chat.approvals(2)
    assert front.answer(first["approvalId"], True).status_code == 200
    assert front.answer(second["approvalId"], False).status_code == 200
    chat.parts()
    outcomes = [list(response) for response in responses(emulator)[-2:]]
    assert sorted(outcomes) == [["error"], ["output"]]


def test_page_runs_its_tool_and_the_model_gets_the_output(chat, front, emulator):
    chunks = chat.say("play track 1")
    (call,) = of(chunks, "tool-input-available")
    output = {"success": True, "track": 1}
    path = f"/api/calls/{call['toolCallId']}"
    settled = front.request("POST", path, json={"output": output})
    assert settled.status_code == 200, settled.text
    chat.parts()
    assert responses(emulator)[-1]["output"] == output


def test_earlier_messages_are_sent_again(chat, emulator):
    chat.say("What is the weather in Tokyo?")
    chat.say("And in Oslo?")
    contents = emulator.asked()[-1]["contents"]
    text = str(contents)
    assert "What is the weather in Tokyo?" in text and "And in Oslo?" in text
    assert chat.over()["status"] == "finished"


@pytest.mark.parametrize("api", ["messages"])
def test_inputs_that_litellm_joins_are_a_call_that_is_invalid(chat, emulator):
    """What it makes of parallel calls is not JSON, and nobody is asked about it."""
    chunks = chat.say("Send $20 to Sam and $30 to Ann")
    (wrong,) = of(chunks, "tool-input-error")
    assert wrong["toolName"] == "process_payment"
    assert "}{" in wrong["input"]
    assert not of(chunks, "tool-approval-request")
