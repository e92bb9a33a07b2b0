"""Sessions: how they are made, with a past and a mark, and what tools and the model see of it."""

import pytest

from adk import call, model_parts, parts_of, response, says, text

APPS = ["plain", "resumable"]


def past(author="root"):
    """A conversation that took place elsewhere."""
    return [
        said("user", "user", text("Look at Oslo")),
        said(author, "model", call("look", "l1", at="Oslo")),
        said(author, "user", response("l1", "look", {"seen": "rain"})),
        said(author, "model", text("It rains.")),
    ]


def said(author, role, *parts, **more):
    return {"author": author, "content": {"role": role, "parts": list(parts)}, **more}


def test_a_session_has_the_id_and_the_state_that_it_is_given(adk):
    made = adk.create("plain", sessionId="s-1", state={"adk_stream": {"chat": "c-1"}})
    assert made.json()["id"] == "s-1"
    assert made.json()["state"] == {"adk_stream": {"chat": "c-1"}}


def test_an_id_that_is_taken_is_a_conflict(adk):
    assert adk.create("plain", sessionId="s-2").status_code == 200
    assert adk.create("plain", sessionId="s-2").status_code == 409


def test_a_session_that_is_not_there_is_said_to_be_missing(adk):
    assert adk.request("GET", "/apps/plain/users/ann/sessions/none").status_code == 404
    body = adk.conversation("plain").body([text("Hello")], sessionId="none")
    assert adk.request("POST", "/run_sse", json=body).status_code == 404


def test_an_app_that_is_not_there_is_noticed_only_when_it_runs(adk):
    stranger = adk.conversation("stranger")
    answer = adk.request("POST", "/run_sse", json=stranger.body([text("Hello")]))
    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("Agent not found: 'stranger'")


def test_a_body_that_is_none_is_refused_before_the_stream(adk):
    assert adk.request("POST", "/run_sse", content=b"{").status_code == 422
    assert adk.request("POST", "/run_sse", json={"appName": "plain"}).status_code == 422


def test_the_root_agent_has_a_name(adk):
    assert adk.request("GET", "/apps/plain/app-info").json()["rootAgentName"] == "root"


@pytest.mark.parametrize("app", APPS)
def test_the_model_gets_the_history_that_a_session_was_made_with(adk, emulator, app):
    adk.conversation(app, events=past()).run(text("And now?"))
    (asked,) = emulator.asked()
    assert model_parts(asked) == [
        "Look at Oslo",
        ("call", "l1", "look"),
        ("response", "l1", {"seen": "rain"}),
        "It rains.",
        "And now?",
    ]
    assert [content["role"] for content in asked["contents"]] == [
        "user",
        "model",
        "user",
        "model",
        "user",
    ]


def test_what_another_author_said_is_quoted(adk, emulator):
    adk.conversation("plain", events=past("somebody")).run(text("And now?"))
    words = model_parts(emulator.asked()[0])
    assert not [word for word in words if isinstance(word, tuple)]
    assert any("[somebody] said:" in word for word in words)


def test_events_keep_what_they_are_given(adk):
    mine = said(
        "user",
        "user",
        text("Hello"),
        id="e-1",
        invocationId="i-1",
        customMetadata={"mine": 1},
        timestamp=1.5,
    )
    (stored,) = adk.conversation("plain", events=[mine]).stored()["events"]
    assert {key: stored[key] for key in mine} == mine


@pytest.mark.parametrize(
    "event",
    [
        said("root", "model", call("adk_request_confirmation", "c-1")),
        said("root", "model", call("play", "p-1"), longRunningToolIds=["p-1"]),
        said("root", "model", text("x"), actions={"stateDelta": {"a": 1}}),
    ],
    ids=["a confirmation", "a long-running call", "actions"],
)
def test_what_only_adk_may_say_is_no_past(adk, event):
    assert adk.create("plain", events=[event]).status_code == 400


@pytest.mark.parametrize("app", APPS)
def test_an_open_call_of_the_past_can_be_answered(adk, emulator, ledger, app):
    opened = [
        said("user", "user", text("Go")),
        said("root", "model", call("look", "l1", at="Oslo")),
    ]
    chat = adk.conversation(app, events=opened)
    chat.run(response("l1", "look", {"seen": "rain"}))
    assert model_parts(emulator.asked()[0]) == [
        "Go",
        ("call", "l1", "look"),
        ("response", "l1", {"seen": "rain"}),
    ]
    assert ledger.entries() == []


@pytest.mark.parametrize("app", APPS)
def test_an_open_call_beside_one_that_is_answered_is_run_by_adk(adk, ledger, app):
    calls = said(
        "root", "model", call("look", "l1", at="a"), call("look", "l2", at="b"), invocationId="i-1"
    )
    opened = [said("user", "user", text("Go"), invocationId="i-1"), calls]
    events = adk.conversation(app, events=opened).run(response("l1", "look", {"seen": "a"}))
    assert parts_of(events)[0] == ("response", "l2", {"seen": "b"})
    assert [entry["call"] for entry in ledger.entries()] == ["l2"]


@pytest.mark.parametrize("app", APPS)
def test_a_message_over_an_open_call_leaves_the_call_out(adk, emulator, app):
    opened = [
        said("user", "user", text("Go")),
        said("root", "model", call("look", "l1", at="Oslo")),
    ]
    adk.conversation(app, events=opened).run(text("Never mind"))
    assert model_parts(emulator.asked()[0]) == ["Go", "Never mind"]


@pytest.mark.parametrize("app", APPS)
def test_a_run_can_be_marked_and_found_again(adk, emulator, app):
    emulator.script(says(call("look", "l1", at="Oslo")))
    chat = adk.conversation(app)
    mark = {"run": "r-1"}
    events = chat.run(text("Go"), customMetadata=mark, stateDelta={"last": "r-1"})
    stored = chat.stored()
    assert {str(event["customMetadata"]) for event in [*events, *stored["events"]]} == {str(mark)}
    assert stored["events"][0]["actions"]["stateDelta"] == {"last": "r-1"}
    assert stored["state"]["last"] == "r-1"


def test_a_run_has_the_invocation_that_it_is_given(adk):
    chat = adk.conversation("plain")
    chat.run(text("Hello"), invocationId="i-7")
    assert [event["invocationId"] for event in chat.stored()["events"]] == ["i-7", "i-7"]


def test_a_tool_knows_its_call_its_session_and_its_state(adk, emulator, ledger):
    emulator.script(says(call("look", "l1", at="Oslo")))
    chat = adk.conversation("plain", state={"adk_stream": {"chat": "c-1"}})
    chat.run(text("Go"), customMetadata={"run": "r-1"})
    (seen,) = ledger.entries()
    assert (seen["call"], seen["session"], seen["user"]) == ("l1", chat.session, "ann")
    assert seen["state"] == {"adk_stream": {"chat": "c-1"}}
    assert seen["metadata"] == {"run": "r-1"}


def test_headers_that_it_does_not_know_are_let_be(adk):
    body = adk.conversation("plain").body([text("Hello")])
    answer = adk.request("POST", "/run_sse", json=body, headers={"Authorization": "Bearer x"})
    assert answer.status_code == 200
