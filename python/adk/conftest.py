"""Starts the emulator and ADK servers on it, and gives tests conversations with them.

The servers start beside each other while the first tests run: an ADK server takes seconds for it.
"""

import json
import pathlib
from contextlib import ExitStack

import pytest

import adk as harness
import emulator as emulators
from fake_adk_stream import KEY, FakeAdkStream
from launcher import ROOT, free_port

HERE = pathlib.Path(__file__).parent
EXAMPLE = ROOT / "examples/adk-python/agents"


@pytest.fixture(scope="session")
def started(tmp_path_factory):
    with emulators.emulator(tmp_path_factory.mktemp("emulator")) as started:
        yield started


@pytest.fixture
def emulator(started):
    started.begin()
    return started


class Ledger:
    """What tools have written down."""

    def __init__(self, path):
        self.path = path

    def entries(self):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return [json.loads(line) for line in lines]

    def events(self):
        return [entry["event"] for entry in self.entries()]


@pytest.fixture(scope="session")
def places(tmp_path_factory):
    return tmp_path_factory.mktemp("adk")


@pytest.fixture(scope="session")
def fake_session():
    fake = FakeAdkStream()
    yield fake
    fake.close()


def everyone(places):
    """A folder with all agents: those of these tests, and the example's."""
    folder = places / "everyone"
    folder.mkdir()
    for agents in (HERE / "agents", EXAMPLE):
        for agent in agents.iterdir():
            (folder / agent.name).symlink_to(agent)
    return folder


@pytest.fixture(scope="session", autouse=True)
def servers(started, places, fake_session):
    """One with its sessions in a file, one in memory, one for adk-stream, one with the example."""
    settings = {
        "LEDGER": str(places / "ledger"),
        "ASSISTANT_LEDGER": str(places / "wallets"),
        "ASSISTANT_REPORT_SECONDS": "0.5",
        "ADK_STREAM_URL": fake_session.url,
        "ADK_STREAM_AGENT_KEY": KEY,
    }

    def server(name, agents, **more):
        directory = places / name
        directory.mkdir()
        arguments = {**settings, **more}
        return stack.enter_context(harness.adk(agents, directory, started, **arguments))

    port = free_port()

    with ExitStack() as stack:
        servers = {
            "file": server("file", HERE / "agents"),
            "memory": server("memory", HERE / "agents", sessions="memory://"),
            # Its tools have to know where adk-stream will be before it is there.
            "fronted": server(
                "fronted", everyone(places), ADK_STREAM_URL=f"http://127.0.0.1:{port}"
            ),
            "example": server("example", EXAMPLE),
        }
        servers["fronted"].front_port = port
        yield servers


@pytest.fixture
def adk(servers, emulator):
    """ADK with the agents of these tests, and sessions in a file."""
    return servers["file"].ready()


@pytest.fixture
def forgetful(servers, emulator):
    """The same with sessions in memory."""
    return servers["memory"].ready()


@pytest.fixture
def example(servers, emulator):
    """ADK with the example."""
    return servers["example"].ready()


@pytest.fixture
def ledger(places):
    path = places / "ledger"
    path.unlink(missing_ok=True)
    return Ledger(path)


@pytest.fixture
def wallets(places):
    path = places / "wallets"
    path.unlink(missing_ok=True)
    return Ledger(path)


@pytest.fixture
def fake(fake_session):
    """adk-stream, as a tool sees it."""
    fake_session.asked.clear()
    fake_session.says()
    return fake_session
