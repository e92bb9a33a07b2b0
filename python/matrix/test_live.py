"""The live agent of the example, whose tools ask by themselves, behind every ADK that has /run_live."""

import json

import pytest

import limits
from fake_adk_stream import KEY
from front import until
from live_front import live_front, words

flow = pytest.mark.flow


@pytest.fixture
def page(server):
    arguments = ["--live-modality", "text"]
    with (
        live_front(server.front_port, server, "assistant_live", KEY, *arguments) as served,
        served.page() as page,
    ):
        yield page


@flow("live: words")
def test_words(name, page):
    chunks = page.ask("Hello")
    if limits.of(name, "live: words"):
        assert chunks[-1]["type"] == "error", chunks
    else:
        assert words(chunks).startswith('You said: "Hello".')


@flow("live: tool that asks by itself")
def test_tool_that_asks(name, server, page):
    if limits.of(name, "live: tool that asks by itself"):
        assert page.ask("Send $20 to Sam")[-1]["type"] == "error"
        return
    wallets = server.directory / "wallets"
    wallets.unlink(missing_ok=True)
    page.say("Send $20 to Sam")
    refused = page.front.approval(page.chat)
    page.front.answer(refused["approvalId"], False, "too much")
    page.until("finish")
    (tool,) = [part for part in page.parts() if "toolCallId" in part]
    assert tool["state"] == "output-denied", tool
    assert not wallets.exists()
    page.rest()
    page.say("Send $20 to Sam")
    approval = page.front.approval(page.chat)
    assert approval["question"] == "Send 20 USD to Sam?"
    page.front.answer(approval["approvalId"], True)
    page.until("finish")
    (paid,) = map(json.loads, wallets.read_text().splitlines())
    assert (paid["amount"], paid["recipient"]) == (20, "Sam")


@flow("live: tool that calls the page by itself")
def test_tool_that_calls_the_page(name, page):
    if limits.of(name, "live: tool that calls the page by itself"):
        assert page.ask("Play track 2")[-1]["type"] == "error"
        return
    page.say("Play track 2")
    asked = []

    def is_asked():
        found = page.front.client.get(f"/api/chat/{page.chat}")
        parts = found.json()["messages"][-1]["parts"] if found.status_code == 200 else []
        asked[:] = [part for part in parts if part["type"] == "tool-change_bgm"]
        return [part["state"] for part in asked] == ["input-available"]

    until(is_asked)
    path = f"/api/calls/{asked[0]['toolCallId']}"
    brought = page.front.client.post(path, json={"output": {"success": True, "current_track": 2}})
    assert brought.status_code == 200, brought.text
    page.until("finish")
    (played,) = [part for part in page.parts() if part["type"] == "tool-change_bgm"]
    assert (played["state"], played["output"]["current_track"]) == ("output-available", 2)
