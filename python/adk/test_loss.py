"""What is left when a client leaves, ADK is killed, or two answers come at once."""

import signal
import threading

import httpx
import pytest

from adk import adk as adk_server
from adk import call, confirm, confirmations, model_parts, parts_of, says, text
from conftest import HERE
from front import until
from launcher import TIMEOUT

ABORTED = {"error": "Invocation was aborted by client."}


def leave(chat, *parts, when):
    """Sends a message, and leaves when something has happened."""
    url = f"{chat.server.url}/run_sse"
    with httpx.stream("POST", url, json=chat.body(parts), timeout=TIMEOUT) as answer:
        assert answer.status_code == 200
        until(when)


@pytest.mark.parametrize("app", ["plain", "resumable"])
def test_a_client_that_leaves_aborts_the_run(adk, emulator, ledger, app):
    emulator.script(says(call("doze", "d", seconds=30), call("look", "l", at="x")))
    chat = adk.conversation(app)
    leave(chat, text("Go"), when=lambda: "look" in ledger.events())
    until(lambda: "cancelled" in ledger.events())
    until(lambda: len(chat.stored()["events"]) == 3)
    sealed = chat.stored()["events"][-1]
    assert sealed["errorCode"] == "INVOCATION_ABORTED"
    # Also of the call that was done, whose result is lost.
    assert parts_of([sealed]) == [("response", "d", ABORTED), ("response", "l", ABORTED)]
    chat.run(text("And now?"))
    assert model_parts(emulator.asked()[-1])[-3:] == [
        ("response", "d", ABORTED),
        ("response", "l", ABORTED),
        "And now?",
    ]


def test_an_approval_that_was_aborted_runs_again_when_it_is_sent_again(adk, emulator, ledger):
    """Why an approval must never be sent twice."""
    emulator.script(says(call("pay", "p", to="ann")))
    chat = adk.conversation("resumable")
    ids = confirmations(chat.run(text("Go")))
    leave(chat, confirm(ids["p"]), when=lambda: "pay" in ledger.events())
    until(lambda: chat.stored()["events"][-1].get("errorCode") == "INVOCATION_ABORTED")
    assert parts_of(chat.run(confirm(ids["p"])))[0] == ("response", "p", {"paid": "ann"})
    assert ledger.events() == ["pay", "pay"]


def test_an_open_confirmation_survives_kill_9(started, emulator, ledger, tmp_path):
    emulator.script(says(call("pay", "p", to="ann")))
    settings = {"LEDGER": str(ledger.path)}
    with adk_server(HERE / "agents", tmp_path, started, **settings) as server:
        server.ready()
        chat = server.conversation("resumable")
        ids = confirmations(chat.run(text("Go")))
        server.end(signal.SIGKILL)
        server.begin()
        server.ready()
        assert parts_of(chat.run(confirm(ids["p"])))[0] == ("response", "p", {"paid": "ann"})
    assert ledger.events() == ["pay"]


def test_two_approvals_at_once_run_the_tool_twice(forgetful, emulator, ledger):
    """ADK 2.13, by itself: adk-stream in front of it sends one answer, however many race for it."""
    assert forgetful.request("GET", "/version").json()["version"] == "2.13.0"
    tries = 20
    for nth in range(tries):
        emulator.script(says(call("pay", f"p-{nth}", to="ann")))
        chat = forgetful.conversation("resumable")
        ids = confirmations(chat.run(text("Go")))
        start = threading.Barrier(2)

        def approve(chat=chat, id=ids[f"p-{nth}"], start=start):
            start.wait()
            chat.run(confirm(id))

        both = [threading.Thread(target=approve) for _ in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
    calls = [entry["call"] for entry in ledger.entries()]
    twice = sum(calls.count(f"p-{nth}") == 2 for nth in range(tries))
    print(f"{twice} of {tries} approvals ran the tool twice")
    assert twice > 0
