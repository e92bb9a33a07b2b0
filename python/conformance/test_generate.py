"""generateContent, judged by Google's SDK."""

import base64

import pytest
from google import genai
from google.genai import errors, types

from conftest import client_of
from tools import RECEIPT, SPOKEN_WEATHER, WEATHER, tools

MODEL = "gemini-2.5-flash"
SIGNING = "gemini-3-pro-preview"

# A pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

ECHO = 'You said: "Hello". I am the demo agent. I have no tools here, so I can only repeat what you say.'
PLAIN = types.AutomaticFunctionCallingConfig(disable=True)


def with_tools(**more):
    return types.GenerateContentConfig(tools=[tools()], automatic_function_calling=PLAIN, **more)


def test_text(client):
    response = client.models.generate_content(model=MODEL, contents="Hello")
    assert response.text == ECHO
    assert response.candidates[0].finish_reason == types.FinishReason.STOP
    assert response.model_version == MODEL
    assert response.response_id
    usage = response.usage_metadata
    assert usage.prompt_token_count == 2
    assert usage.candidates_token_count > 10
    assert usage.total_token_count == usage.prompt_token_count + usage.candidates_token_count


def test_streamed_text(client):
    chunks = list(client.models.generate_content_stream(model=MODEL, contents="Hello"))
    assert len(chunks) > 10
    assert "".join(chunk.text or "" for chunk in chunks) == ECHO
    reasons = [chunk.candidates[0].finish_reason for chunk in chunks]
    assert reasons == [None] * (len(chunks) - 1) + [types.FinishReason.STOP]
    assert len({chunk.response_id for chunk in chunks}) == 1


async def test_streamed_text_without_blocking(client):
    stream = await client.aio.models.generate_content_stream(model=MODEL, contents="こんにちは")
    text = "".join([chunk.text or "" async for chunk in stream])
    assert text.startswith("「こんにちは」")


def test_text_over_tls(emulator):
    client = client_of(emulator.secure_url)
    assert client.models.generate_content(model=MODEL, contents="Hello").text == ECHO


def test_the_environment_points_at_it(emulator, monkeypatch):
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", emulator.url)
    monkeypatch.setenv("GEMINI_API_KEY", "a key")
    client = genai.Client()
    assert client.models.generate_content(model=MODEL, contents="Hello").text == ECHO


@pytest.mark.parametrize("version", ["v1beta", "v1alpha", "v1"])
def test_versions(emulator, version):
    client = client_of(emulator.url, api_version=version)
    assert client.models.generate_content(model=MODEL, contents="Hello").text == ECHO


def test_thoughts_are_sent_to_clients_that_ask_for_them(client):
    prompt = "What is the weather in Tokyo?"
    thinking = types.ThinkingConfig(include_thoughts=True)
    answer = client.models.generate_content(
        model=MODEL, contents=prompt, config=with_tools(thinking_config=thinking)
    )
    parts = answer.candidates[0].content.parts
    thoughts = "".join(part.text for part in parts if part.thought)
    assert thoughts == "The user wants me to look up the weather in Tokyo."
    assert answer.usage_metadata.thoughts_token_count > 0
    silent = client.models.generate_content(model=MODEL, contents=prompt, config=with_tools())
    assert not any(part.thought for part in silent.candidates[0].content.parts)
    assert silent.usage_metadata.thoughts_token_count > 0


def test_system_instruction(client, emulator):
    config = types.GenerateContentConfig(system_instruction="Be brief, and nothing else.")
    bare = client.models.generate_content(model=MODEL, contents="Hello")
    response = client.models.generate_content(model=MODEL, contents="Hello", config=config)
    body = emulator.asked()[1]
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief, and nothing else."}]
    counts = [it.usage_metadata.prompt_token_count for it in (bare, response)]
    assert counts[1] == counts[0] + 7


def test_an_image_goes_in(client, emulator):
    image = types.Part.from_bytes(data=PNG, mime_type="image/png")
    response = client.models.generate_content(model=MODEL, contents=["Hello", image])
    assert response.text == ECHO
    details = response.usage_metadata.prompt_tokens_details
    assert [(it.modality.value, it.token_count) for it in details] == [("TEXT", 2), ("IMAGE", 258)]
    sent = emulator.asked()[0]["contents"][0]["parts"][1]["inlineData"]
    assert base64.urlsafe_b64decode(sent["data"]) == PNG


def test_a_call_by_hand(client):
    contents = [types.UserContent("What is the weather in Tokyo?")]
    asked = client.models.generate_content(model=MODEL, contents=contents, config=with_tools())
    [call] = asked.function_calls
    assert (call.name, call.args) == ("get_weather", {"location": "Tokyo"})
    assert call.id
    response = types.FunctionResponse(id=call.id, name=call.name, response={"output": WEATHER})
    contents += [
        asked.candidates[0].content,
        types.Content(role="user", parts=[types.Part(function_response=response)]),
    ]
    answered = client.models.generate_content(model=MODEL, contents=contents, config=with_tools())
    assert answered.text == SPOKEN_WEATHER


def test_parallel_calls_streamed(client):
    contents = [types.UserContent("What is the weather in Tokyo, and send $20 to Sam")]
    chunks = list(
        client.models.generate_content_stream(model=MODEL, contents=contents, config=with_tools())
    )
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
    calls = [part.function_call for part in parts if part.function_call]
    assert [call.name for call in calls] == ["get_weather", "process_payment"]
    assert len({call.id for call in calls}) == 2
    brought = {"get_weather": WEATHER, "process_payment": RECEIPT}
    responses = [
        types.Part.from_function_response(name=call.name, response=brought[call.name])
        for call in calls
    ]
    contents += [types.ModelContent(parts), types.UserContent(responses)]
    answered = client.models.generate_content(model=MODEL, contents=contents, config=with_tools())
    assert answered.text == f"{SPOKEN_WEATHER} I sent $20 to Sam."


def test_automatic_function_calling(client, emulator):
    asked = []

    def get_weather(location: str) -> dict:
        """Tells the weather of a city."""
        asked.append(location)
        return WEATHER

    config = types.GenerateContentConfig(tools=[get_weather])
    response = client.models.generate_content(
        model=SIGNING, contents="What is the weather in Tokyo?", config=config
    )
    assert asked == ["Tokyo"]
    assert response.text == SPOKEN_WEATHER
    assert len(emulator.asked()) == 2


def test_a_function_that_fails_is_reported(client):
    def get_weather(location: str) -> dict:
        """Tells the weather of a city."""
        raise RuntimeError("no satellite")

    config = types.GenerateContentConfig(tools=[get_weather])
    response = client.models.generate_content(
        model=MODEL, contents="What is the weather in Tokyo?", config=config
    )
    assert "failed" in response.text
    assert "no satellite" in response.text


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_chat_sends_signatures_back(client, emulator, is_streamed):
    chat = client.chats.create(model=SIGNING, config=with_tools())

    def send(message):
        if not is_streamed:
            return list(chat.send_message(message).candidates[0].content.parts)
        chunks = list(chat.send_message_stream(message))
        return [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]

    for _ in range(2):
        parts = send("What is the weather in Tokyo, and send $20 to Sam")
        calls = [part for part in parts if part.function_call]
        assert [bool(call.thought_signature) for call in calls] == [True, False]
        brought = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=part.function_call.id, name=part.function_call.name, response={"output": {}}
                )
            )
            for part in calls
        ]
        parts = send(brought)
        assert "".join(part.text or "" for part in parts).startswith("The weather in Tokyo")
        assert parts[-1].thought_signature
    sent = [
        part["thoughtSignature"]
        for content in emulator.asked()[-1]["contents"]
        for part in content["parts"]
        if "thoughtSignature" in part
    ]
    assert len(sent) == 3


@pytest.mark.parametrize("fault", ["dropped", "altered"])
def test_a_lost_signature_is_refused(client, fault):
    contents = [types.UserContent("What is the weather in Tokyo?")]
    asked = client.models.generate_content(model=SIGNING, contents=contents, config=with_tools())
    content = asked.candidates[0].content
    signature = content.parts[0].thought_signature
    assert signature
    content.parts[0].thought_signature = None if fault == "dropped" else signature[::-1]
    response = types.Part.from_function_response(name="get_weather", response=WEATHER)
    contents += [content, types.UserContent(response)]
    with pytest.raises(errors.ClientError) as refused:
        client.models.generate_content(model=SIGNING, contents=contents, config=with_tools())
    assert refused.value.code == 400
    assert refused.value.status == "INVALID_ARGUMENT"
    words = {
        "dropped": "Function call is missing a thought_signature in functionCall parts",
        "altered": "Corrupted thought signature",
    }
    assert words[fault] in refused.value.message
    # The older model does not mind.
    answered = client.models.generate_content(model=MODEL, contents=contents, config=with_tools())
    assert answered.text == SPOKEN_WEATHER


def test_a_response_that_is_missing_is_refused(client):
    contents = [types.UserContent("What is the weather in Tokyo, and send $20 to Sam")]
    asked = client.models.generate_content(model=MODEL, contents=contents, config=with_tools())
    response = types.Part.from_function_response(name="get_weather", response=WEATHER)
    contents += [asked.candidates[0].content, types.UserContent(response)]
    with pytest.raises(errors.ClientError, match="number of function response parts"):
        client.models.generate_content(model=MODEL, contents=contents, config=with_tools())


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_bad_key_is_refused(emulator, is_streamed):
    client = client_of(emulator.url, key="bad")
    with pytest.raises(errors.ClientError) as refused:
        if is_streamed:
            list(client.models.generate_content_stream(model=MODEL, contents="Hello"))
        else:
            client.models.generate_content(model=MODEL, contents="Hello")
    assert (refused.value.code, refused.value.status) == (400, "INVALID_ARGUMENT")
    assert refused.value.message == "API key not valid. Please pass a valid API key."
    assert refused.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert "bad" not in str(emulator.log("request")[0]["headers"].values())


def test_too_many_requests(client, emulator):
    emulator.script(
        {"on": "generate", "times": 1, "status": {"code": 429, "retryAfterSeconds": 17}}
    )
    with pytest.raises(errors.ClientError) as refused:
        list(client.models.generate_content_stream(model=MODEL, contents="Hello"))
    assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")
    [retry] = refused.value.details["error"]["details"]
    assert retry == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}
    assert client.models.generate_content(model=MODEL, contents="Hello").text == ECHO


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (403, "PERMISSION_DENIED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
    ],
)
def test_statuses(client, emulator, code, status):
    emulator.script({"status": {"code": code}, "on": "generate"})
    kind = errors.ClientError if code < 500 else errors.ServerError
    with pytest.raises(kind) as refused:
        client.models.generate_content(model=MODEL, contents="Hello")
    assert (refused.value.code, refused.value.status) == (code, status)


def test_the_sdk_tries_again(emulator):
    emulator.script({"on": "generate", "times": 2, "status": {"code": 503}})
    retry = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02)
    client = client_of(emulator.url, retry_options=retry)
    assert client.models.generate_content(model=MODEL, contents="Hello").text == ECHO
    assert len(emulator.asked()) == 3


def test_no_such_model(client):
    with pytest.raises(errors.ClientError) as refused:
        client.models.generate_content(model="elephant-1", contents="Hello")
    assert (refused.value.code, refused.value.status) == (404, "NOT_FOUND")
    assert "models/elephant-1 is not found for API version v1" in refused.value.message


def test_an_error_in_the_stream(client, emulator):
    emulator.script({"on": "generate", "error": {"code": 503, "after": 2}})
    texts = []
    with pytest.raises(errors.ServerError) as failed:
        for chunk in client.models.generate_content_stream(model=MODEL, contents="Hello"):
            texts.append(chunk.text)
    assert texts == ["You", " said:"]
    assert failed.value.code == 503


def test_a_cut_stream(client, emulator):
    emulator.script({"on": "generate", "cut": {"after": 2}})
    texts = []
    # The SDK lets the error of its HTTP library through, which may be any.
    with pytest.raises(Exception) as failed:  # noqa: PT011
        for chunk in client.models.generate_content_stream(model=MODEL, contents="Hello"):
            texts.append(chunk.text)
    assert texts == ["You", " said:"]
    assert "peer closed connection" in str(failed.value)


def test_a_blocked_prompt(client, emulator):
    emulator.script({"on": "generate", "block": "SAFETY"})
    response = client.models.generate_content(model=MODEL, contents="Hello")
    assert response.prompt_feedback.block_reason == types.BlockedReason.SAFETY
    assert not response.candidates
    assert response.text is None


def test_an_answer_that_becomes_unsafe(client, emulator):
    emulator.script({"on": "generate", "finish": {"reason": "SAFETY", "after": 3}})
    chunks = list(client.models.generate_content_stream(model=MODEL, contents="Hello"))
    assert len(chunks) == 4
    candidate = chunks[-1].candidates[0]
    assert candidate.finish_reason == types.FinishReason.SAFETY
    assert candidate.safety_ratings[0].blocked
    assert candidate.content is None


def test_an_answer_that_is_too_long(client):
    config = types.GenerateContentConfig(max_output_tokens=5)
    response = client.models.generate_content(model=MODEL, contents="Hello", config=config)
    assert response.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
    assert ECHO.startswith(response.text)
    assert len(response.text) < 30


def test_a_script_answers(client, emulator):
    emulator.script(
        {
            "on": "generate",
            "contains": "weather",
            "respond": [
                {"candidates": [{"content": {"role": "model", "parts": [{"text": "Rain"}]}}]},
                {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"totalTokenCount": 3}},
            ],
        }
    )
    chunks = list(client.models.generate_content_stream(model=MODEL, contents="the weather"))
    assert [chunk.text for chunk in chunks] == ["Rain", None]
    assert chunks[1].usage_metadata.total_token_count == 3
    assert client.models.generate_content(model=MODEL, contents="Hello").text == ECHO


def test_tools_can_be_forbidden(client):
    none = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="NONE"))
    response = client.models.generate_content(
        model=MODEL, contents="What is the weather in Tokyo?", config=with_tools(tool_config=none)
    )
    assert not response.function_calls
    assert response.text == "I would need the tool get_weather, and I do not have it here."


def test_models_are_listed(client):
    names = [model.name for model in client.models.list()]
    assert "models/gemini-2.5-flash" in names
    model = client.models.get(model=MODEL)
    assert model.name == f"models/{MODEL}"
    assert "generateContent" in model.supported_actions


def test_tokens_are_counted(client):
    counted = client.models.count_tokens(model=MODEL, contents="Hello, you there")
    assert counted.total_tokens == 4
