"""A cluster and three servers for each way to the database, and the table at the end."""

import itertools
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

import table
from cluster import Cluster, cluster
from faults import FAULTS
from launcher import ROOT
from machine import begin_network
from servers import servers

WAYS = ["direct", "haproxy"]
LOGS = ROOT / "target/ha"


@dataclass
class Form:
    """How much is done."""

    payments: int
    # New ones in a second.
    rate: float
    # How many are waited for before a fault, and after it.
    few: int
    longest_gap: float


# The short form also runs where others use the machine. A failover that takes a minute there is one
# that nobody found.
SHORT = Form(payments=12, rate=0.5, few=2, longest_gap=60)

# For one fault, all waits together, in seconds. On a quiet machine it takes about two minutes.
TIME_LIMIT = 900


@dataclass
class Site:
    """A cluster, and the servers on it."""

    way: str
    cluster: Cluster
    servers: list[tuple[str, int]]
    people: Iterator[int]


def pytest_addoption(parser):
    parser.addoption("--short", action="store_true", help="one fault, a dozen payments")
    parser.addoption("--payments", type=int, default=200, help="during each fault, at least")
    parser.addoption("--rate", type=float, default=4, help="payments that begin in a second")
    parser.addoption("--longest-gap", type=float, default=15, help="between payments, in seconds")


def pytest_generate_tests(metafunc):
    if "site" in metafunc.fixturenames:
        ways = WAYS[:1] if metafunc.config.getoption("--short") else WAYS
        metafunc.parametrize("site", ways, indirect=True, scope="session")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--short"):
        chosen = [item for item in items if f"[{FAULTS[0].name}" in item.name]
        chosen = chosen or [item for item in items if FAULTS[0].name in item.name]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def pytest_configure():
    # A test that is ended cleans up like one that is interrupted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def network():
    begin_network()


@pytest.fixture(scope="session")
def form(request):
    option = request.config.getoption
    if option("--short"):
        return SHORT
    rate = option("--rate")
    # As many as begin in four seconds.
    few = max(round(4 * rate) - 1, 2)
    return Form(option("--payments"), rate, few, option("--longest-gap"))


@pytest.fixture(scope="session")
def site(request, network):
    logs = LOGS / request.param
    logs.mkdir(parents=True, exist_ok=True)
    for old in logs.iterdir():
        old.unlink()
    with ExitStack() as running:
        database = running.enter_context(cluster(logs))
        addresses = running.enter_context(servers(request.param, logs))
        yield Site(request.param, database, addresses, itertools.count())


@pytest.fixture(autouse=True)
def time_limit():
    """Ends a test that hangs, though each of its waits is within its own bound."""

    def give_up(*_):
        raise TimeoutError(f"it takes longer than {TIME_LIMIT} s")

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(TIME_LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


ROWS: list[table.Row] = []


@pytest.fixture(scope="session")
def rows():
    return ROWS


def pytest_terminal_summary(terminalreporter):
    if ROWS:
        terminalreporter.write_line("")
        rendered = table.rendered(ROWS)
        (LOGS / "table.md").write_text(f"{rendered}\n")
        terminalreporter.write_line(rendered)
    terminalreporter.write_line(f"The logs and the table are in {LOGS.relative_to(ROOT)}.")
