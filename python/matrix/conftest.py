"""Every flow behind every ADK that is named, each in an environment of its own, and the table of what
came of it.

The servers start beside each other, since each takes seconds; the tests of one come after another's.
"""

import json
import pathlib
import subprocess
from contextlib import ExitStack, contextmanager

import pytest

import adk as harness
import adk_typescript
import emulator as emulators
import table
from fake_adk_stream import KEY
from front import front
from launcher import ROOT, free_port

HERE = pathlib.Path(__file__).parent
AGENTS = [
    ROOT / "python/adk/agents",
    ROOT / "examples/adk-python/agents",
    HERE / "agents",
]

NEWEST = "python-2.13.0"
SERVERS = [
    "python-1.22.1",
    "python-1.39.1",
    "python-2.2.0",
    "python-2.6.3",
    "python-2.8.0",
    NEWEST,
    "typescript-2.0.0",
]


def pytest_addoption(parser):
    parser.addoption("--adk", default=",".join(SERVERS), help="servers, by name")
    parser.addoption("--kills", type=int, default=3, help="kills during the tool, of each server")
    parser.addoption("--short", action="store_true", help="every flow, in one app of each")
    parser.addoption("--table", action="store_true", help="write the table into docs/adk.md")


def chosen(config):
    names = config.getoption("--adk").split(",")
    assert set(names) <= set(SERVERS), f"only {SERVERS} are known"
    return names


def apps_of(name, config):
    """Only ADK for Python has apps that wait for all answers."""
    if not name.startswith("python"):
        return ["plain"]
    # What differs most from the newest: 1.x in apps that wait, 2.x in those that do not.
    short = ["resumable" if name.startswith("python-1") else "plain"]
    return short if config.getoption("--short") else ["plain", "resumable"]


def pytest_generate_tests(metafunc):
    names = chosen(metafunc.config)
    if "place" in metafunc.fixturenames:
        places = [(name, app) for name in names for app in apps_of(name, metafunc.config)]
        ids = [f"{name}-{app}" for name, app in places]
        metafunc.parametrize("place", places, ids=ids, scope="session")
    elif "name" in metafunc.fixturenames:
        metafunc.parametrize("name", names, scope="session")


class Ledger:
    """What tools have written down."""

    def __init__(self, path):
        self.path = path

    def entries(self):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return [json.loads(line) for line in lines]

    def events(self):
        return [entry["event"] for entry in self.entries()]

    def paid(self, to):
        return sum(entry.get("to") == to for entry in self.entries())


@pytest.fixture(scope="session")
def started(tmp_path_factory):
    with emulators.emulator(tmp_path_factory.mktemp("emulator")) as started:
        yield started


@pytest.fixture
def emulator(started):
    started.begin()
    return started


def interpreter(version):
    """The environment of a version, which is made if it is not there."""
    name = "adk" if f"python-{version}" == NEWEST else f"adk-{version}"
    command = [str(ROOT / "scripts/python-env"), name]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return made.stdout.strip()


@pytest.fixture(scope="session")
def agents(tmp_path_factory):
    """A folder with all agents in Python."""
    folder = tmp_path_factory.mktemp("agents")
    for agent in (agent for agents in AGENTS for agent in agents.iterdir()):
        (folder / agent.name).symlink_to(agent)
    return folder


@pytest.fixture(scope="session")
def servers(started, agents, tmp_path_factory, pytestconfig):
    with ExitStack() as stack:
        servers = {}
        for name in chosen(pytestconfig):
            directory = tmp_path_factory.mktemp(name)
            language, _, version = name.partition("-")
            port = free_port()
            settings = {
                "LEDGER": str(directory / "ledger"),
                "ASSISTANT_LEDGER": str(directory / "wallets"),
                "ADK_STREAM_URL": f"http://127.0.0.1:{port}",
                "ADK_STREAM_AGENT_KEY": KEY,
            }
            if language == "python":
                python = interpreter(version)
                made = harness.adk(agents, directory, started, python=python, **settings)
            else:
                folder = HERE / language
                made = adk_typescript.adk_typescript(folder, directory, started, **settings)
            servers[name] = stack.enter_context(made)
            servers[name].front_port = port
        yield servers


@pytest.fixture
def server(servers, name, emulator):
    return servers[name].ready()


@pytest.fixture
def ledger(servers, request):
    name = request.getfixturevalue("place")[0] if "place" in request.fixturenames else None
    name = name or request.getfixturevalue("name")
    path = servers[name].directory / "ledger"
    path.unlink(missing_ok=True)
    return Ledger(path)


@contextmanager
def before(adk, name, app, directory):
    """adk-stream before an app, with its journals in a file."""
    settings = {"store": f"sqlite:{directory}/chats.db", "lease": 1, "agent_key": KEY}
    with front(adk, app, port=adk.front_port, **settings) as served:
        served.adk = adk
        served.name = name
        yield served


@pytest.fixture
def served(servers, place, emulator, tmp_path):
    """adk-stream before one of the apps that every server has."""
    name, app = place
    with before(servers[name].ready(), name, app, tmp_path) as served:
        yield served


def pytest_runtest_makereport(item, call):
    flow = item.get_closest_marker("flow")
    params = getattr(item, "callspec", None)
    if call.when != "call" or not flow or not params:
        return
    name = params.params.get("name") or params.params["place"][0]
    table.note(name, flow.args[0], call.excinfo is None)


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 0 and session.config.getoption("--table"):
        table.write(chosen(session.config))
