"""adk-stream in front of /run_live: text, speech, tools that ask, and sockets that are lost."""

import base64
import json
import re
import signal
from contextlib import ExitStack

import pytest

import adk as harness
from adk import call, calls_live
from conftest import EXAMPLE, HERE
from fake_adk_stream import KEY
from front import until
from launcher import free_port
from live_front import SOUND, live_front, words


class World:
    """An ADK server with all agents, and servers before its apps."""

    def __init__(self, stack, server, port):
        self.stack, self.server, self.port = stack, server, port

    def front(self, app, *arguments):
        """adk-stream before an app. Tools know but one address, so there is one at a time."""
        self.stack.close()
        return self.stack.enter_context(live_front(self.port, self.server, app, KEY, *arguments))


@pytest.fixture(scope="module")
def server(started, tmp_path_factory):
    places = tmp_path_factory.mktemp("live")
    agents = places / "agents"
    agents.mkdir()
    for folder in [HERE / "agents", EXAMPLE]:
        for entry in folder.iterdir():
            (agents / entry.name).symlink_to(entry)
    port = free_port()
    settings = {
        "LEDGER": str(places / "ledger"),
        "ASSISTANT_LEDGER": str(places / "wallets"),
        "ADK_STREAM_URL": f"http://127.0.0.1:{port}",
        "ADK_STREAM_AGENT_KEY": KEY,
    }
    with harness.adk(agents, places, started, **settings) as server:
        server.front_port = port
        server.ledger = places / "wallets"
        yield server


@pytest.fixture
def world(server, emulator):
    if server.process.poll() is not None:
        server.begin()
    server.ready()
    server.ledger.unlink(missing_ok=True)
    with ExitStack() as stack:
        yield World(stack, server, server.front_port)


@pytest.fixture
def assistant(world):
    return world.front("assistant_live", "--live-modality", "text")


@pytest.fixture
def paid(server):
    def paid():
        lines = server.ledger.read_text().splitlines() if server.ledger.exists() else []
        return [(entry["amount"], entry["recipient"]) for entry in map(json.loads, lines)]

    return paid


def states(page):
    """The tools of the last message, and their states."""
    parts = page.parts()
    return [
        (part.get("toolName", part["type"]), part["state"]) for part in parts if "state" in part
    ]


def tools(page):
    return [(name, state) for name, state in states(page) if name != "text"]


def is_finished(front, page):
    metadata = front.messages(page.chat)[-1].get("metadata", {})
    return metadata.get("turn") == "finished"


def opened(emulator):
    return len(emulator.log("opened"))


def received(emulator, kind):
    """What ADK sent to the model, of a kind. Google's SDK spells them in two ways."""
    entries = [entry["data"] for entry in emulator.log("received")]
    kinds = [kind, re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), kind)]
    return [data[kind] for data in entries for kind in kinds if kind in data]


def test_words_are_said_once_and_the_socket_is_kept(assistant, emulator):
    with assistant.page() as page:
        first = page.ask("Hello")
        assert words(first).startswith('You said: "Hello".')
        assert words(first).count("You said") == 1
        assert words(page.ask("And now")).startswith('You said: "And now".')
    assert opened(emulator) == 1


def test_a_tool_at_adk_is_shown_with_what_came_of_it(assistant):
    with assistant.page() as page:
        answer = words(page.ask("What is the weather in Tokyo?"))
        assert "18" in answer, answer
        assert tools(page) == [("get_weather", "output-available")]
        # The text comes after what it is about.
        assert page.parts()[-1]["type"] == "text"


def test_a_yes_runs_the_tool_once(assistant, paid):
    with assistant.page() as page:
        page.say("Send $50 to Bob")
        approval = assistant.approval(page.chat)
        assert approval["question"] == "Send 50 USD to Bob?"
        assert paid() == []
        assistant.answer(approval["approvalId"], True)
        assert "50" in words(page.rest())
        assert paid() == [(50, "Bob")]
        assert tools(page) == [("process_payment", "output-available")]


def test_a_page_over_sse_asks_the_same_agent(assistant, paid):
    chat = assistant.chat()
    chat.say("Send $50 to Bob")
    (approval,) = chat.approvals()
    assistant.answer(approval["approvalId"], True)
    assert "50" in chat.last_words()
    assert paid() == [(50, "Bob")]


def test_a_no_reaches_the_model_with_its_reason(assistant, paid):
    with assistant.page() as page:
        page.say("Send $50 to Bob")
        assistant.answer(assistant.approval(page.chat)["approvalId"], False, "too much")
        assert "too much" in words(page.rest())
        assert paid() == []


def test_a_question_that_nobody_answers_in_time_is_a_no(world, emulator):
    live = world.front("live", "--live-modality", "text")
    emulator.script(calls_live(call("hurry", "h")))
    with live.page() as page:
        chunks = page.ask("Go")
        assert "timed out" in str(page.parts()), chunks
    assert live.client.get("/api/approvals").json()["approvals"] == []


def test_two_questions_wait_side_by_side(assistant, emulator, paid):
    payments = [
        call("process_payment", f"p{amount}", amount=amount, recipient=to)
        for amount, to in [(1, "Ann"), (2, "Ben")]
    ]
    emulator.script(calls_live(*payments))
    with assistant.page() as page:
        page.say("Go")
        asked = {
            approval["question"]: approval["approvalId"]
            for approval in assistant.approvals(page.chat, 2)
        }
        assistant.answer(asked["Send 2 USD to Ben?"], True)
        until(lambda: paid() == [(2, "Ben")])
        assistant.answer(asked["Send 1 USD to Ann?"], False, "not her")
        answer = words(page.rest())
        assert "not her" in answer, answer
        assert paid() == [(2, "Ben")]


def test_a_page_runs_what_a_tool_wants_of_it(assistant):
    with assistant.page() as page:
        page.say("Play track 2")
        chunks = page.until("tool-input-available")
        while chunks[-1]["toolName"] != "change_bgm" or chunks[-1].get("providerExecuted"):
            chunks = page.until("tool-input-available")
        assert chunks[-1]["input"] == {"track": 2}
        page.send("tool_result", toolCallId=chunks[-1]["toolCallId"], result={"playing": 2})
        assert "2" in words(page.rest())


@pytest.mark.parametrize("app", ["live", "live_waiting"])
def test_a_long_running_call_is_the_pages(world, emulator, app):
    live = world.front(app, "--live-modality", "text")
    emulator.script(calls_live(call("play", "m", track=1)))
    with live.page() as page:
        page.say("Go")
        wanted = page.until("tool-input-available")[-1]
        page.send("tool_result", toolCallId=wanted["toolCallId"], result={"playing": "jazz"})
        assert "jazz" in words(page.rest())
        assert page.parts()[-1]["type"] == "text"


@pytest.mark.parametrize("app", ["live", "live_waiting"])
def test_adks_own_confirmation_is_refused_and_says_what_to_do(world, emulator, app):
    live = world.front(app, "--live-modality", "text")
    emulator.script(calls_live(call("pay", "p", to="ann")))
    with live.page() as page:
        page.ask("Go")
        (refused,) = [part for part in page.parts() if part.get("toolName") == "pay"]
        assert refused["state"] == "output-error"
        assert "adk_stream.approve" in refused["errorText"]


@pytest.mark.parametrize("app", ["live", "live_waiting"])
def test_a_tool_that_takes_its_time_is_waited_for(world, emulator, app):
    live = world.front(app, "--live-modality", "text")
    emulator.script(calls_live(call("doze", "d", seconds=1), call("look", "l", at="it")))
    with live.page() as page:
        answer = words(page.ask("Go"))
        assert tools(page) == [("doze", "output-available"), ("look", "output-available")]
        assert answer, "nothing was said"
        assert page.parts()[-1]["type"] == "text"


def test_a_tool_that_fails_is_what_failed(world, emulator):
    live = world.front("live_waiting", "--live-modality", "text")
    emulator.script(calls_live(call("break_down", "b")))
    with live.page() as page:
        chunks = page.ask("Go")
        (error,) = [chunk["errorText"] for chunk in chunks if chunk["type"] == "error"]
        assert "it broke" in error
        assert words(page.ask("Hello")).startswith("You said")


@pytest.fixture
def speaker(world):
    return world.front("assistant_live")


def transcripts(page):
    return [
        (part.get("providerMetadata", {}).get("adkStream", {}).get("transcript"), part["text"])
        for part in page.parts()
        if part["type"] == "text"
    ]


def test_speech_is_transcribed_and_answered_aloud(speaker, emulator):
    emulator.script(utterances=["Good morning to you"])
    with speaker.page() as page:
        page.speak()
        chunks = page.rest()
        (whose, question), (answered, answer) = transcripts(page)
        assert (whose, question) == ("input", "Good morning to you")
        assert answered == "output"
        assert answer.count("Good morning to you") == 1
        sound = [chunk["data"] for chunk in chunks if chunk["type"] == "data-pcm"]
        assert {piece["sampleRate"] for piece in sound} == {24000}
        message = speaker.messages(page.chat)[-1]
        assert message["metadata"]["audio"]["chunks"] == len(sound)
        # The transcript is what was said.
        inputs = received(emulator, "realtimeInput")
        audio = [input["audio"] for input in inputs if "audio" in input]
        assert {piece["mime_type"] for piece in audio} == {"audio/pcm;rate=16000"}
        assert len(audio) == 3
        assert base64.urlsafe_b64decode(audio[0]["data"]) == SOUND


def test_what_was_spoken_can_be_a_question_to_a_person(speaker, emulator, paid):
    emulator.script(utterances=["Send $20 to Sam"])
    with speaker.page() as page:
        page.speak()
        speaker.answer(speaker.approval(page.chat)["approvalId"], True)
        page.rest()
        assert paid() == [(20, "Sam")]
        assert tools(page) == [("process_payment", "output-available")]
        assert transcripts(page)[-1][0] == "output"


def test_an_interrupted_model_says_so_and_continues(speaker, emulator):
    emulator.script({"on": "answer", "times": 1, "paceMs": 200})
    with speaker.page() as page:
        page.say("Tell me a long story")
        page.until("data-pcm")
        emulator.act(interrupt={})
        page.until("data-interrupted")
        page.rest()
        assert "And" in words(page.ask("And now"))


def test_a_stopped_turn_hangs_up_and_what_was_said_is_known(assistant, emulator):
    emulator.script({"on": "answer", "times": 1, "paceMs": 100})
    with assistant.page() as page:
        page.say("Hello")
        page.until("text-delta")
        page.send("interrupt", reason="user_abort")
        page.rest()
        emulator.logged(lambda entry: entry["kind"] == "closed")
        assert words(page.ask("And now")).startswith('You said: "And now".')
    assert opened(emulator) == 2
    (history,) = received(emulator, "clientContent")
    assert [turn["role"] for turn in history["turns"]] == ["user", "model"]


def test_adk_that_dies_fails_the_turn_and_is_asked_again(assistant, server, emulator):
    emulator.script({"on": "answer", "times": 1, "paceMs": 100})
    with assistant.page() as page:
        page.say("Hello")
        page.until("text-delta")
        server.end(signal.SIGKILL)
        (error,) = [chunk["errorText"] for chunk in page.rest() if chunk["type"] == "error"]
        assert "The agent's answer ended in the middle." in error
        server.begin()
        server.ready()
        assert words(page.ask("And now")).startswith('You said: "And now".')


def test_adk_that_dies_while_a_person_thinks_leaves_the_call_unknown(assistant, server, paid):
    with assistant.page() as page:
        page.say("Send $50 to Bob")
        assistant.approval(page.chat)
        server.end(signal.SIGKILL)
        errors = [chunk for chunk in page.rest() if chunk["type"] == "error"]
        assert len(errors) == 1
        assert assistant.client.get("/api/approvals").json()["approvals"] == []
        server.begin()
        server.ready()
        assert words(page.ask("Hello")).startswith('You said: "Hello".')
    assert paid() == []


def test_adk_that_died_between_two_messages_is_not_noticed(assistant, server):
    with assistant.page() as page:
        page.ask("Hello")
        server.end(signal.SIGKILL)
        server.begin()
        server.ready()
        answer = page.ask("And now")
        assert words(answer).startswith('You said: "And now".')


def test_a_model_that_was_replaced_gets_the_history(assistant, emulator):
    """ADK opens another session with the model by itself, and sends it nothing."""
    with assistant.page() as page:
        page.ask("Hello")
        emulator.act(goAway={"timeLeftSeconds": 1})
        until(lambda: opened(emulator) == 2)
        assert words(page.ask("And now")).startswith('You said: "And now".')
    (history,) = received(emulator, "clientContent")
    assert [turn["role"] for turn in history["turns"]] == ["user", "model"]


def test_a_model_that_is_replaced_while_a_person_thinks_gets_the_outcome(assistant, emulator, paid):
    with assistant.page() as page:
        page.say("Send $50 to Bob")
        approval = assistant.approval(page.chat)
        emulator.act(goAway={"timeLeftSeconds": 1})
        until(lambda: opened(emulator) == 2)
        assistant.answer(approval["approvalId"], True)
        chunks = page.rest()
        assert not [chunk for chunk in chunks if chunk["type"] == "error"], chunks
        assert paid() == [(50, "Bob")]
        assert tools(page) == [("process_payment", "output-available")]
        assert page.parts()[-1]["type"] == "text"


def test_a_page_that_comes_back_answers_what_waits(assistant, paid):
    with assistant.page() as page:
        page.say("Send $50 to Bob")
        assistant.approval(page.chat)
    shown = assistant.client.get(f"/api/chat/{page.chat}").json()["messages"][-1]
    (part,) = [part for part in shown["parts"] if part.get("toolName") == "process_payment"]
    assert part["state"] == "approval-requested"
    with assistant.client.stream("GET", f"/api/chat/{page.chat}/stream") as stream:
        assert "approval-request" in "".join(stream.iter_text())
    assistant.answer(assistant.approval(page.chat)["approvalId"], True)
    until(lambda: paid() == [(50, "Bob")])
    until(lambda: is_finished(assistant, page))
    assert page.parts()[-1]["type"] == "text"


def test_another_server_knows_what_was_said(world, emulator, tmp_path):
    store = ["--live-modality", "text", "--store", f"sqlite:{tmp_path}/journal.db"]
    with world.front("assistant_live", *store).page() as page:
        page.ask("What is the weather in Tokyo?")
    emulator.begin()
    with world.front("assistant_live", *store).page(page.chat) as page:
        answer = page.ask("And now")
        assert words(answer).startswith('You said: "And now".')
        assert tools(page) == []
    (history,) = received(emulator, "clientContent")
    assert [turn["role"] for turn in history["turns"]] == ["user", "model", "user", "model"]
    # Nobody said anything but this.
    assert received(emulator, "realtimeInput") == [{"text": "And now"}]


def test_a_server_that_dies_while_a_tool_runs_goes_on_with_what_is_known(world, emulator, tmp_path):
    store = ["--live-modality", "text", "--store", f"sqlite:{tmp_path}/journal.db"]
    first = world.front("assistant_live", *store)
    with first.page() as page:
        page.say("Send $50 to Bob")
        first.approval(page.chat)
    second = world.front("assistant_live", *store)
    until(lambda: is_finished(second, page))
    parts = second.messages(page.chat)[-1]["parts"]
    (part,) = [part for part in parts if part.get("toolName") == "process_payment"]
    assert part["state"] == "output-error"
    assert parts[-1]["type"] == "text"


def test_an_app_that_is_not_there_is_named(world):
    nowhere = world.front("nowhere", "--live-modality", "text")
    with nowhere.page() as page:
        (error,) = [chunk["errorText"] for chunk in page.ask("Hello") if chunk["type"] == "error"]
        assert "no such app" in error
