"""ADK killed, slow or out of order behind adk-stream: pages get errors, chats continue, and nothing is
paid twice."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from adk import adk as adk_server
from adk import call, says
from conftest import HERE
from fake_adk_stream import KEY
from front import front, until
from launcher import TIMEOUT
from test_crash import die, leave, made, outcome, pays


@pytest.fixture(scope="module")
def mortal(servers, started, places):
    """ADK that is killed, on a port of its own, with its sessions in a file."""
    directory = places / "mortal"
    directory.mkdir()
    settings = {"LEDGER": str(places / "ledger")}
    with (
        adk_server(HERE / "agents", directory, started, **settings) as server,
        front(server.ready(), "resumable") as served,
    ):
        served.adk = server
        yield served


def kill(server):
    """Kills ADK, and has it started again where it was."""
    server.end(signal.SIGKILL)
    server.begin(port=server.url.rpartition(":")[2])


def test_an_approval_outlives_adk(mortal, emulator, ledger):
    emulator.script(pays("ann"))
    chat = mortal.chat()
    chat.say("Pay ann")
    (approval,) = chat.approvals()
    kill(mortal.adk)
    # It is answered while ADK is still starting, and reaches it once it is there.
    assert mortal.answer(approval["approvalId"], True).status_code == 200
    mortal.adk.ready()
    assert "paid" in chat.last_words()
    assert (outcome(chat), made(ledger, "ann")) == ("output", 1)


def test_adk_that_dies_while_it_pays_leaves_it_unknown_and_the_chat_goes_on(
    mortal, emulator, ledger
):
    emulator.script(pays("ben", seconds=30))
    chat = mortal.chat()
    chat.say("Pay ben")
    (approval,) = chat.approvals()
    mortal.answer(approval["approvalId"], True)
    until(lambda: made(ledger, "ben") == 1)
    kill(mortal.adk)
    view = chat.over()
    assert (view["status"], view["error"]["code"]) == ("failed", "agent_cut_off")
    (tool,) = [part for part in view["messages"][-1]["parts"] if part["type"] == "dynamic-tool"]
    assert tool["state"] == "output-error" and "unknown" in tool["errorText"], tool
    (settled,) = chat.happened("call-settled")
    assert (settled["outcome"], settled["reason"]) == ("unknown", "connection-cut")
    mortal.adk.ready()
    chat.say("Hello")
    assert "Hello" in chat.last_words()
    # The model got what is known of the payment, and did not make it again.
    assert "unknown" in str(emulator.asked()[-1]["contents"])
    assert made(ledger, "ben") == 1


def test_adk_and_adk_stream_that_die_together_pay_once(adk_for_both, emulator, ledger):
    served = adk_for_both
    emulator.script(pays("cat", seconds=30))
    chat = served.chat()
    chat.say("Pay cat")
    (approval,) = chat.approvals()
    served.answer(approval["approvalId"], True)
    until(lambda: made(ledger, "cat") == 1)
    served.end(signal.SIGKILL)
    kill(served.adk)
    served.adk.ready()
    served.begin()
    chat.parts()
    assert (outcome(chat), made(ledger, "cat")) == ("unknown", 1)


@pytest.fixture
def adk_for_both(mortal, tmp_path):
    """adk-stream with its journals in a file, before ADK that is killed."""
    mortal.adk.ready()
    with front(mortal.adk, "resumable", store=f"sqlite:{tmp_path}/chats.db", lease=1) as served:
        served.adk = mortal.adk
        yield served


@pytest.fixture
def quick(adk):
    with front(adk, "plain") as served:
        yield served


def test_others_go_on_while_a_tool_takes_its_time(quick, emulator, ledger):
    emulator.script({**says(call("doze", seconds=6)), "contains": "Sleep"})
    slow = quick.chat()
    asleep = threading.Thread(target=slow.say, args=("Sleep",))
    asleep.start()
    until(lambda: "doze" in ledger.events())
    begun = time.monotonic()

    def talk(nth):
        chat = quick.chat()
        chat.say(f"Hello {nth}")
        return chat.last_words()

    with ThreadPoolExecutor(5) as pool:
        words = list(pool.map(talk, range(20)))
    assert all(f"Hello {nth}" in said for nth, said in enumerate(words)), words
    if time.monotonic() - begun < 5:
        assert "awake" not in ledger.events()
    asleep.join(TIMEOUT)
    assert "slept" in str(slow.parts())
    assert ledger.events().count("doze") == 1


def test_an_app_that_is_not_there_is_said_to_be_missing(adk, emulator):
    with front(adk, "nobody") as served:
        chat = served.chat()
        chunks = chat.say("Hello")
        (error,) = [chunk for chunk in chunks if chunk["type"] == "error"]
        assert error["errorText"].startswith("agent_not_found: The agent's server has no such app")
        assert chat.view()["error"]["code"] == "agent_not_found"


def test_an_agent_that_hands_over_says_so_and_the_next_message_goes_to_the_other(
    quick, emulator, ledger
):
    emulator.script(
        says(call("transfer_to_agent", agent_name="helper")),
        says(call("pay", to="dan")),
    )
    chat = quick.chat()
    chat.say("Hand over, and pay")
    (approval,) = chat.approvals()
    quick.answer(approval["approvalId"], True)
    parts = chat.parts()
    (transfer,) = [part for part in parts if part["type"] == "data-adk-transfer"]
    assert transfer["data"] == {"from": "root", "to": "helper"}
    assert parts[-1]["providerMetadata"]["adkStream"]["author"] == "helper"
    assert made(ledger, "dan") == 1
    chat.say("Hello")
    assert chat.view()["messages"][-1]["metadata"]["agent"] == "helper"


def test_who_asked_inside_a_tool_is_gone_with_adk_stream(servers, emulator, ledger, tmp_path):
    """`approve` of the Python package waits as long as ADK runs the tool, and no longer."""
    adk = servers["fronted"].ready()
    settings = {"store": f"sqlite:{tmp_path}/chats.db", "agent_key": KEY, "lease": 1}
    with front(adk, "resumable", port=adk.front_port, **settings) as served:
        emulator.script(says(call("send", "s", amount=5, recipient="Sam")))
        chat = served.chat()
        leave(chat, "Go", when=lambda: chat.approvals() != [])
        (approval,) = chat.approvals()
        die(served)
        chat.parts()
        assert outcome(chat) == "unknown"
        (closed,) = chat.happened("gate-closed")
        assert closed["decision"] == "cancelled"
        late = served.answer(approval["approvalId"], True)
        assert late.status_code in (404, 409), late.text
        assert ledger.entries() == []
        chat.say("Hello")
        assert "Hello" in chat.last_words()
