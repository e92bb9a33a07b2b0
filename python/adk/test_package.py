"""The package adk_stream in tools of the real ADK, over SSE and in live mode."""

import pytest

from adk import call, calls_live, model_parts, parts_of, says, text

YES = {"decision": "approved"}
NO = {"decision": "denied", "reason": "too much"}


def declared(asked, name):
    """The declaration of a tool, as the model gets it."""
    tools = [tool for group in asked["tools"] for tool in group["functionDeclarations"]]
    (found,) = [tool for tool in tools if tool["name"] == name]
    return found


def schema(found):
    for key in ("parametersJsonSchema", "parameters_json_schema", "parameters"):
        if key in found:
            return found[key]
    raise AssertionError(found)


def test_a_decorated_tool_is_declared_as_any_other(adk, emulator):
    adk.conversation("plain").run(text("Hello"))
    found = declared(emulator.asked()[0], "send")
    assert found["description"].startswith("Sends money.")
    assert set(schema(found)["properties"]) == {"amount", "recipient", "currency"}
    assert schema(found)["required"] == ["amount", "recipient"]


@pytest.mark.parametrize("app", ["plain", "resumable"])
@pytest.mark.parametrize(
    ("decision", "result", "ran"),
    [(YES, {"sent": 5, "currency": "USD"}, ["send"]), (NO, {"error": "Denied: too much"}, [])],
)
def test_a_decorated_tool_over_sse(adk, emulator, fake, ledger, app, decision, result, ran):
    fake.says({"decision": None}, decision)
    emulator.script(says(call("send", "s", amount=5, recipient="Sam")))
    chat = adk.conversation(app, state={"adk_stream": {"chat": "c-1"}})
    chat.run(text("Go"))
    assert model_parts(emulator.asked()[1])[-1] == ("response", "s", result)
    assert ledger.events() == ran
    first, again = [ask.body for ask in fake.asked]
    assert (
        first
        == again
        == {
            "chat": "c-1",
            "call": "s",
            "nth": 0,
            "ask": {"approval": {"question": "Send 5 to Sam?"}},
            "timeoutMs": None,
        }
    )


@pytest.mark.parametrize("app", ["live", "live_waiting"])
def test_a_decorated_tool_in_live_mode(adk, emulator, fake, ledger, app):
    fake.says(NO)
    emulator.script(calls_live(call("send", "s", amount=5, recipient="Sam")))
    chat = adk.conversation(app, state={"adk_stream": {"chat": "c-1"}})
    with chat.live() as live:
        live.say(text("Go"))
        events = live.until(
            lambda event: ("response", "s", {"error": "Denied: too much"}) in parts_of([event])
        )
    assert parts_of(events)[0] == ("call", "s", "send")
    assert [(ask.body["chat"], ask.body["call"]) for ask in fake.asked] == [("c-1", "s")]
    assert ledger.entries() == []


def test_a_page_runs_a_tool_and_its_output_comes_back(adk, emulator, fake):
    fake.says({"decision": "output", "output": {"playing": 1}})
    emulator.script(says(call("page", "p")))
    adk.conversation("plain").run(text("Go"))
    assert model_parts(emulator.asked()[1])[-1] == ("response", "p", {"page": {"playing": 1}})


def test_what_is_no_yes_and_not_caught_ends_the_run(adk, emulator, fake):
    fake.says(NO)
    emulator.script(says(call("ask", "a", question="Sure?")))
    *_, event, frame = adk.conversation("plain").run(text("Go"))
    assert (event["errorCode"], event["errorMessage"]) == ("Denied", "Denied: too much")
    assert frame["error"] == "Denied: Denied: too much"


def test_parallel_asks_wait_side_by_side(adk, emulator, fake):
    fake.says(YES, YES)
    emulator.script(says(call("ask", "a", question="One?"), call("ask", "b", question="Two?")))
    adk.conversation("plain").run(text("Go"))
    assert sorted((ask.body["call"], ask.body["nth"]) for ask in fake.asked) == [("a", 0), ("b", 0)]
