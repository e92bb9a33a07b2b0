"""Live, judged by Google's SDK."""

import array
import asyncio
import math

import pytest
from google import genai
from google.genai import errors, types
from websockets.exceptions import ConnectionClosed

from conftest import TIMEOUT, client_of
from tools import RECEIPT, SPOKEN_WEATHER, WEATHER, tools

MODEL = "gemini-live-2.5-flash-preview"
TEXT = {"response_modalities": ["TEXT"]}
PROMPT = "What is the weather in Tokyo?"
BOTH = "What is the weather in Tokyo, and send $20 to Sam"


@pytest.fixture(autouse=True)
async def allowed():
    async with asyncio.timeout(TIMEOUT):
        yield


async def say(session, text):
    await session.send_client_content(turns=types.UserContent(text))


async def turn(session):
    """What comes until the turn is complete."""
    return [message async for message in session.receive()]


def text_of(messages):
    return "".join(message.text or "" for message in messages)


def contents_of(messages):
    return [message.server_content for message in messages if message.server_content]


def transcript(messages, of):
    pieces = [getattr(content, f"{of}_transcription") for content in contents_of(messages)]
    return "".join(piece.text for piece in pieces if piece)


async def until(session, is_so):
    """The first message that is so, and what came before it."""
    before = []
    while True:
        async for message in session.receive():
            if is_so(message):
                return before, message
            before.append(message)


async def calls_of(session):
    _, message = await until(session, lambda it: it.tool_call)
    return message.tool_call.function_calls


def response(call, output, **more):
    return types.FunctionResponse(id=call.id, name=call.name, response={"output": output}, **more)


def sound(seconds, loudness=8000, rate=16000):
    samples = (int(loudness * math.sin(at / 20)) for at in range(int(seconds * rate)))
    return types.Blob(data=array.array("h", samples).tobytes(), mime_type=f"audio/pcm;rate={rate}")


async def test_text(live):
    async with live.connect(model=MODEL, config=TEXT) as session:
        assert session.session_id
        await say(session, "Hello")
        messages = await turn(session)
        assert text_of(messages).startswith('You said: "Hello". I am the demo agent.')
        assert [it.generation_complete for it in contents_of(messages)][-2:] == [True, None]
        usage = messages[-1].usage_metadata
        assert usage.response_token_count > 10
        assert usage.total_token_count == usage.prompt_token_count + usage.response_token_count
        # It knows what was said before.
        await session.send_realtime_input(text="and again")
        assert 'You said: "and again"' in text_of(await turn(session))


async def test_the_environment_points_at_it(emulator, monkeypatch):
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", emulator.secure_url)
    monkeypatch.setenv("GEMINI_API_KEY", "a key")
    client = genai.Client()
    async with client.aio.live.connect(model=MODEL, config=TEXT) as session:
        await say(session, "Hello")
        assert text_of(await turn(session)).startswith("You said")


@pytest.mark.parametrize("version", ["v1beta", "v1alpha"])
async def test_versions(emulator, version):
    client = client_of(emulator.secure_url, api_version=version)
    async with client.aio.live.connect(model=MODEL, config=TEXT) as session:
        await say(session, "Hello")
        assert text_of(await turn(session)).startswith("You said")


async def test_context_is_given_before(live):
    async with live.connect(model=MODEL, config=TEXT) as session:
        turns = [types.UserContent("Hi"), types.ModelContent("Ho")]
        await session.send_client_content(turns=turns, turn_complete=False)
        await say(session, "Hello")
        messages = await turn(session)
        assert 'You said: "Hello"' in text_of(messages)
        assert messages[-1].usage_metadata.prompt_token_count == 4


async def test_thoughts(live):
    config = {**TEXT, "tools": [tools()], "thinking_config": {"include_thoughts": True}}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, PROMPT)
        before, _ = await until(session, lambda it: it.tool_call)
        parts = [part for it in contents_of(before) for part in it.model_turn.parts]
        assert all(part.thought for part in parts)
        thoughts = "".join(part.text for part in parts)
        assert thoughts == "The user wants me to look up the weather in Tokyo."


async def test_a_tool_that_blocks(live):
    config = {**TEXT, "tools": [tools()]}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, BOTH)
        # One at a time, the next when the one before it is settled.
        [weather] = await calls_of(session)
        assert (weather.name, weather.args) == ("get_weather", {"location": "Tokyo"})
        await session.send_tool_response(function_responses=response(weather, WEATHER))
        [payment] = await calls_of(session)
        assert payment.name == "process_payment"
        assert payment.id != weather.id
        await session.send_tool_response(function_responses=response(payment, RECEIPT))
        assert text_of(await turn(session)) == f"{SPOKEN_WEATHER} I sent $20 to Sam."


async def test_a_tool_that_fails(live):
    config = {**TEXT, "tools": [tools()]}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, "Send $20 to Sam")
        [payment] = await calls_of(session)
        denied = types.FunctionResponse(
            id=payment.id, name=payment.name, response={"error": "Denied: too much"}
        )
        await session.send_tool_response(function_responses=denied)
        assert text_of(await turn(session)) == "You denied the payment to Sam: too much."


async def test_tools_that_do_not_block(live):
    config = {**TEXT, "tools": [tools("NON_BLOCKING")]}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, BOTH)
        messages = await turn(session)
        [call] = [message.tool_call for message in messages if message.tool_call]
        weather, payment = call.function_calls
        # Both are under way, and the model can be spoken to meanwhile.
        pending = [
            response(it, {"status": "asked"}, will_continue=True, scheduling="SILENT")
            for it in (weather, payment)
        ]
        await session.send_tool_response(function_responses=pending)
        await say(session, "Hello")
        assert "You said" in text_of(await turn(session))
        # Each is sent as it comes.
        await session.send_tool_response(
            function_responses=response(payment, RECEIPT, scheduling="INTERRUPT")
        )
        assert "payment to Sam is finished" in text_of(await turn(session))
        await session.send_tool_response(
            function_responses=response(weather, WEATHER, scheduling="WHEN_IDLE")
        )
        assert "temperature 18" in text_of(await turn(session))


async def test_what_is_silent_is_sent_later(live, emulator):
    config = {**TEXT, "tools": [tools("NON_BLOCKING")]}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, BOTH)
        [call] = [message.tool_call for message in await turn(session) if message.tool_call]
        weather, payment = call.function_calls
        await session.send_tool_response(
            function_responses=response(weather, WEATHER, scheduling="SILENT")
        )
        await session.send_tool_response(
            function_responses=response(payment, RECEIPT, scheduling="WHEN_IDLE")
        )
        assert text_of(await turn(session)) == f"{SPOKEN_WEATHER} I sent $20 to Sam."
        brought = [it["data"] for it in emulator.log("received") if "tool_response" in it["data"]]
        assert [it["tool_response"]["functionResponses"][0]["scheduling"] for it in brought] == [
            "SILENT",
            "WHEN_IDLE",
        ]


async def test_a_response_interrupts(live, emulator):
    config = {**TEXT, "tools": [tools("NON_BLOCKING")]}
    emulator.script({"on": "answer", "contains": "slowly", "paceMs": 1000})
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, PROMPT)
        [call] = [message.tool_call for message in await turn(session) if message.tool_call]
        [weather] = call.function_calls
        await say(session, "Speak slowly")
        await until(session, lambda it: it.text)
        await session.send_tool_response(
            function_responses=response(weather, WEATHER, scheduling="INTERRUPT")
        )
        assert contents_of(await turn(session))[-2].interrupted
        assert "temperature 18" in text_of(await turn(session))


async def test_sound_in_and_out(live, emulator):
    emulator.script(utterances=["Hello there", PROMPT])
    config = {
        "response_modalities": ["AUDIO"],
        "input_audio_transcription": {},
        "output_audio_transcription": {},
    }
    async with live.connect(model=MODEL, config=config) as session:
        for words, said in [("Hello there", 'You said: "Hello there"'), (PROMPT, "I would need")]:
            await session.send_realtime_input(audio=sound(0.5))
            # A second of quiet ends an utterance.
            await session.send_realtime_input(audio=sound(1.1, loudness=0))
            messages = await turn(session)
            assert transcript(messages, "input") == words
            words = transcript(messages, "output")
            assert words.startswith(said)
            assert text_of(messages) == ""
            data = b"".join(message.data for message in messages if message.data)
            seconds = len(data) / 2 / 24000
            assert len(words) * 0.05 < seconds < len(words) * 0.07
            samples = array.array("h", data)
            assert max(samples) > 5000
            parts = [
                part
                for it in contents_of(messages)
                if it.model_turn
                for part in it.model_turn.parts
            ]
            assert {part.inline_data.mime_type for part in parts} == {"audio/pcm;rate=24000"}


async def test_sound_ends_with_the_microphone(live):
    config = {**TEXT, "input_audio_transcription": {}}
    async with live.connect(model=MODEL, config=config) as session:
        await session.send_realtime_input(audio=sound(0.3))
        await session.send_realtime_input(audio_stream_end=True)
        messages = await turn(session)
        assert transcript(messages, "input") == PROMPT
        assert "get_weather" in text_of(messages)


async def test_the_client_says_who_speaks(live):
    manual = {"automatic_activity_detection": {"disabled": True}}
    config = {**TEXT, "realtime_input_config": manual}
    async with live.connect(model=MODEL, config=config) as session:
        await session.send_realtime_input(activity_start={})
        await session.send_realtime_input(audio=sound(0.3, loudness=0))
        await session.send_realtime_input(activity_end={})
        assert "get_weather" in text_of(await turn(session))


async def test_an_image_is_seen(live, emulator):
    async with live.connect(model=MODEL, config=TEXT) as session:
        await session.send_realtime_input(video=types.Blob(data=b"jpeg", mime_type="image/jpeg"))
        await session.send_realtime_input(text="Hello")
        assert "Hello" in text_of(await turn(session))
    frames = [entry["data"] for entry in emulator.log("received")]
    assert frames[1]["realtime_input"]["video"]["mime_type"] == "image/jpeg"


async def test_speaking_over_the_model_interrupts_it(live, emulator):
    emulator.script({"on": "answer", "contains": "slowly", "paceMs": 1000})
    async with live.connect(model=MODEL, config=TEXT) as session:
        await say(session, "Speak slowly")
        await until(session, lambda it: it.text)
        await session.send_realtime_input(audio=sound(0.3))
        messages = await turn(session)
        interrupted, complete = contents_of(messages)[-2:]
        assert interrupted.interrupted and complete.turn_complete
        assert not any(it.generation_complete for it in contents_of(messages))
        await session.send_realtime_input(audio_stream_end=True)
        assert "get_weather" in text_of(await turn(session))


async def test_a_script_interrupts(live, emulator):
    emulator.script({"on": "answer", "times": 1, "interrupt": {"after": 3}})
    async with live.connect(model=MODEL, config=TEXT) as session:
        await say(session, "Hello")
        messages = await turn(session)
        assert text_of(messages) == 'You said: "Hello".'
        assert contents_of(messages)[-2].interrupted


async def test_new_input_cancels_a_call_that_blocks(live):
    config = {**TEXT, "tools": [tools()]}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, "Send $20 to Sam")
        [payment] = await calls_of(session)
        await say(session, PROMPT)
        _, message = await until(session, lambda it: it.tool_call_cancellation)
        assert message.tool_call_cancellation.ids == [payment.id]
        assert contents_of(await turn(session))[-1].turn_complete
        [weather] = await calls_of(session)
        # What comes too late is no mistake.
        await session.send_tool_response(function_responses=response(payment, RECEIPT))
        await session.send_tool_response(function_responses=response(weather, WEATHER))
        assert text_of(await turn(session)) == SPOKEN_WEATHER


async def test_a_script_cancels_a_call(live, emulator):
    emulator.script({"on": "answer", "times": 1, "cancelCalls": {"afterMs": 10}})
    config = {**TEXT, "tools": [tools()]}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, PROMPT)
        [weather] = await calls_of(session)
        _, message = await until(session, lambda it: it.tool_call_cancellation)
        assert message.tool_call_cancellation.ids == [weather.id]


async def test_the_connection_will_be_closed(live, emulator):
    emulator.script({"on": "connect", "goAway": {"timeLeftSeconds": 50, "closeAfterMs": 50}})
    async with live.connect(model=MODEL, config=TEXT) as session:
        _, message = await until(session, lambda it: it.go_away)
        assert message.go_away.time_left == "50s"
        with pytest.raises((errors.APIError, ConnectionClosed)) as closed:
            await turn(session)
        assert "1008" in str(closed.value)


async def test_a_session_is_resumed_by_its_handle(live):
    config = {**TEXT, "tools": [tools("NON_BLOCKING")], "session_resumption": {}}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, PROMPT)
        [call] = [message.tool_call for message in await turn(session) if message.tool_call]
        [weather] = call.function_calls
        _, message = await until(session, lambda it: it.session_resumption_update)
        assert message.session_resumption_update.resumable
        handle = message.session_resumption_update.new_handle
    resumed = {**config, "session_resumption": {"handle": handle}}
    async with live.connect(model=MODEL, config=resumed) as session:
        # The call was made on the other connection, and is answered on this one.
        await session.send_tool_response(function_responses=response(weather, WEATHER))
        assert text_of(await turn(session)) == SPOKEN_WEATHER


async def test_a_call_that_blocks_can_not_be_resumed_at(live):
    config = {**TEXT, "tools": [tools()], "session_resumption": {}}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, PROMPT)
        await calls_of(session)
        _, message = await until(session, lambda it: it.session_resumption_update)
        assert not message.session_resumption_update.resumable
        assert not message.session_resumption_update.new_handle


async def test_an_unknown_handle_is_refused(live):
    config = {**TEXT, "session_resumption": {"handle": "made up"}}
    with pytest.raises(errors.APIError) as refused:
        async with live.connect(model=MODEL, config=config):
            pass
    assert refused.value.code == 1008
    assert "BidiGenerateContent session not found" in str(refused.value)


@pytest.mark.parametrize(
    ("code", "reason"), [(1007, "no"), (1008, "never"), (1011, "out of order")]
)
async def test_a_setup_is_refused(live, emulator, code, reason):
    emulator.script({"on": "connect", "close": {"code": code, "reason": reason}})
    with pytest.raises(errors.APIError) as refused:
        async with live.connect(model=MODEL, config=TEXT):
            pass
    assert refused.value.code == code
    assert reason in str(refused.value)


async def test_a_bad_key_is_refused(emulator):
    client = client_of(emulator.secure_url, key="bad")
    with pytest.raises(errors.APIError) as refused:
        async with client.aio.live.connect(model=MODEL, config=TEXT):
            pass
    assert refused.value.code == 1007
    assert "API key not valid" in str(refused.value)


async def test_no_such_model(live):
    with pytest.raises(errors.APIError) as refused:
        async with live.connect(model="elephant-1", config=TEXT):
            pass
    assert refused.value.code == 1008
    assert "models/elephant-1 is not found" in str(refused.value)


async def test_the_connection_breaks(live, emulator):
    emulator.script({"on": "answer", "cut": {"after": 2}})
    async with live.connect(model=MODEL, config=TEXT) as session:
        await say(session, "Hello")
        texts = []
        with pytest.raises((errors.APIError, ConnectionClosed)) as broken:
            async for message in session.receive():
                texts.append(message.text)
        assert texts == ["You", " said:"]
        assert "1006" in str(broken.value) or "no close frame" in str(broken.value)


async def test_a_script_speaks(live, emulator):
    emulator.script(
        {
            "on": "answer",
            "times": 1,
            "respond": [{"toolCall": {"functionCalls": [{"id": "c1", "name": "get_weather"}]}}],
        }
    )
    config = {**TEXT, "tools": [tools()]}
    async with live.connect(model=MODEL, config=config) as session:
        await say(session, PROMPT)
        [call] = await calls_of(session)
        assert call.id == "c1"
        await session.send_tool_response(function_responses=response(call, WEATHER))
        assert "18°C" in text_of(await turn(session))


async def test_tools_are_changed_on_the_way(live):
    async with live.connect(model=MODEL, config=TEXT) as session:
        await session.send_context_update(tools=[tools()])
        await say(session, PROMPT)
        [call] = await calls_of(session)
        assert call.name == "get_weather"
