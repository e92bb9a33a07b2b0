"""ADK's confirmations: what is asked, and which answers do what."""

import pytest

from adk import call, confirm, confirmations, model_parts, parts_of, response, says, settle, text

APPS = ["plain", "resumable"]
WAITING = {"error": "This tool call requires confirmation, please approve or reject."}
NO = {"error": "Denied: too much"}


def ask(adk, emulator, app, *calls):
    """A conversation in which these are called, and the confirmations that are asked for."""
    emulator.script(says(*calls))
    chat = adk.conversation(app)
    events = chat.run(text("Go"))
    return chat, events, confirmations(events)


def pays(*names):
    return [call("pay", name, to=name) for name in names]


def answers(emulator):
    """The last responses to calls that the model got."""
    return {part[1]: part[2] for part in model_parts(emulator.asked()[-1]) if part[0] == "response"}


@pytest.mark.parametrize("app", APPS)
def test_a_confirmation_is_a_call_about_the_call(adk, emulator, ledger, app):
    _, (called, asked, waiting), ids = ask(adk, emulator, app, *pays("ann"))
    assert parts_of([called]) == [("call", "ann", "pay")]
    arguments = asked["content"]["parts"][0]["functionCall"]["args"]
    assert arguments["originalFunctionCall"] == {"id": "ann", "name": "pay", "args": {"to": "ann"}}
    assert arguments["toolConfirmation"]["confirmed"] is False
    assert asked["longRunningToolIds"] == [ids["ann"]]
    assert parts_of([waiting]) == [("response", "ann", WAITING)]
    assert list(waiting["actions"]["requestedToolConfirmations"]) == ["ann"]
    assert ledger.entries() == []


def test_beside_a_plain_call_the_placeholder_comes_first(adk, emulator):
    _, (_, waiting, asked), _ = ask(
        adk, emulator, "resumable", call("look", "l", at="x"), *pays("ann")
    )
    assert parts_of([waiting]) == [("response", "l", {"seen": "x"}), ("response", "ann", WAITING)]
    assert parts_of([asked])[0][2] == "adk_request_confirmation"


@pytest.mark.parametrize("app", APPS)
def test_approvals_in_one_message_run_and_the_model_is_called_once(adk, emulator, ledger, app):
    chat, _, ids = ask(adk, emulator, app, *pays("ann", "ben"))
    first, *_ = chat.run(confirm(ids["ann"]), confirm(ids["ben"]))
    results = {"ann": {"paid": "ann"}, "ben": {"paid": "ben"}}
    assert parts_of([first]) == [("response", name, result) for name, result in results.items()]
    assert answers(emulator) == results
    assert len(emulator.asked()) == 2
    assert sorted(entry["call"] for entry in ledger.entries()) == ["ann", "ben"]


@pytest.mark.parametrize("app", APPS)
def test_adk_sends_the_model_a_denial_without_its_reason(adk, emulator, ledger, app):
    chat, _, ids = ask(adk, emulator, app, *pays("ann"))
    why = {"confirmed": False, "payload": {"reason": "too much"}, "hint": "too much"}
    chat.run(response(ids["ann"], "adk_request_confirmation", why))
    assert answers(emulator) == {"ann": {"error": "This tool call is rejected."}}
    assert ledger.entries() == []


@pytest.mark.parametrize("app", APPS)
def test_a_denial_with_its_reason_is_a_response_to_the_call_itself(adk, emulator, ledger, app):
    """Where nothing is approved, one message does: the confirmation is settled under another name,
    since a message with a confirmation in it is kept from the model."""
    chat, _, ids = ask(adk, emulator, app, *pays("ann", "ben"), call("look", "l", at="x"))
    settled = [response(ids[name], "pay", NO) for name in ids]
    chat.run(response("ann", "pay", NO), response("ben", "pay", {"error": "Denied"}), *settled)
    assert answers(emulator) == {"ann": NO, "ben": {"error": "Denied"}, "l": {"seen": "x"}}
    assert len(emulator.asked()) == 2
    assert ledger.events() == ["look"]


@pytest.mark.parametrize("app", APPS)
def test_denials_and_approvals_take_two_messages(adk, emulator, ledger, app):
    chat, _, ids = ask(adk, emulator, app, *pays("ann", "ben"))
    assert chat.run(response("ben", "pay", NO)) == []
    assert len(emulator.asked()) == 1
    chat.run(confirm(ids["ann"]), settle(ids["ben"]))
    assert answers(emulator) == {"ann": {"paid": "ann"}, "ben": NO}
    assert len(emulator.asked()) == 2
    assert [entry["call"] for entry in ledger.entries()] == ["ann"]


@pytest.mark.parametrize("app", APPS)
def test_in_one_message_the_reason_is_lost(adk, emulator, app):
    chat, _, ids = ask(adk, emulator, app, *pays("ann", "ben"))
    chat.run(response("ben", "pay", NO), confirm(ids["ann"]), settle(ids["ben"]))
    assert answers(emulator)["ben"] == WAITING


def test_a_resumable_app_waits_for_a_confirmation_that_is_not_settled(adk, emulator):
    chat, _, ids = ask(adk, emulator, "resumable", *pays("ann", "ben"))
    chat.run(response("ben", "pay", NO))
    chat.run(confirm(ids["ann"]))
    assert len(emulator.asked()) == 1


def test_a_plain_app_goes_on_after_the_first_answer(adk, emulator):
    chat, _, ids = ask(adk, emulator, "plain", *pays("ann", "ben"))
    chat.run(confirm(ids["ann"]))
    assert answers(emulator) == {"ann": {"paid": "ann"}, "ben": WAITING}


def test_results_of_long_running_calls_go_with_the_denials(adk, emulator, ledger):
    calls = [*pays("ann", "ben"), call("play", "p", track=1), call("look", "l", at="x")]
    chat, _, ids = ask(adk, emulator, "resumable", *calls)
    assert chat.run(response("p", "play", {"playing": 1}), response("ben", "pay", NO)) == []
    chat.run(confirm(ids["ann"]), settle(ids["ben"]))
    results = {"ann": {"paid": "ann"}, "ben": NO, "p": {"playing": 1}, "l": {"seen": "x"}}
    assert answers(emulator) == results
    assert len(emulator.asked()) == 2
    assert ledger.events().count("pay") == 1


@pytest.mark.parametrize("app", APPS)
def test_a_long_running_tool_that_asked_first_is_answered_without_its_confirmation(
    adk, emulator, ledger, app
):
    """On an approval alone, ADK would call the model before there is a result."""
    chat, (called, *_), ids = ask(adk, emulator, app, call("locate", "g"))
    assert called["longRunningToolIds"] == ["g"]
    place = {"latitude": 59}
    chat.run(response("g", "locate", place), response(ids["g"], "locate", {}))
    assert answers(emulator) == {"g": place}
    assert len(emulator.asked()) == 2
    assert ledger.entries() == []


@pytest.mark.parametrize("app", APPS)
def test_an_approval_that_comes_again_runs_nothing(adk, emulator, ledger, app):
    chat, _, ids = ask(adk, emulator, app, *pays("ann"))
    chat.run(confirm(ids["ann"]))
    assert parts_of(chat.run(confirm(ids["ann"]))) == []
    assert ledger.events() == ["pay"]


def test_an_approval_can_not_change_the_input(adk, emulator, ledger):
    chat, _, ids = ask(adk, emulator, "plain", *pays("ann"))
    *_, frame = chat.run(confirm(ids["ann"], args={"to": "ben"}))
    assert "Extra inputs are not permitted" in frame["error"]
    assert ledger.entries() == []


def test_an_answer_can_not_be_mixed_with_words(adk, emulator):
    chat, _, ids = ask(adk, emulator, "plain", *pays("ann"))
    (frame,) = chat.run(confirm(ids["ann"]), text("please"))
    assert "cannot contain both function responses and text" in frame["error"]


def test_the_stored_session_shows_whether_an_answer_arrived(adk, emulator):
    chat, _, ids = ask(adk, emulator, "resumable", *pays("ann"))
    assert not [event for event in chat.stored()["events"][1:] if event["author"] == "user"]
    chat.run(confirm(ids["ann"]), customMetadata={"run": "r-2"})
    (answer,) = [event for event in chat.stored()["events"][1:] if event["author"] == "user"]
    assert parts_of([answer]) == [("response", ids["ann"], {"confirmed": True})]
    assert answer["customMetadata"] == {"run": "r-2"}
