"""The scenarios bring out the mistakes that are planted in a peer, and find none in a correct one."""

from collections import Counter
from contextlib import contextmanager

import pytest

import scenarios
from judge import Count, judged
from ledger import ledger
from planted import Planted
from scenarios import SCENARIOS, Scenario, Stage, played

PAYMENTS = 2

# The planted server ends with this process: it can't be killed while a tool is at work.
PLAYABLE = [one for one in SCENARIOS if one.run is not scenarios.killed_during_tool]


@contextmanager
def planted(book, mistake=None):
    peer = Planted(book.url, mistake)
    peer.start()
    try:
        yield peer
    finally:
        peer.stop()


def found(scenario, mistake=None):
    with ledger() as book, planted(book, mistake) as peer:
        trials = played(Stage(peer, book, settles=0.5), scenario, PAYMENTS)
    return sum((judged(trial) for trial in trials), Counter())


@pytest.mark.parametrize("scenario", PLAYABLE, ids=lambda scenario: scenario.name)
def test_a_correct_peer_has_no_faults(scenario):
    assert not {name for name in found(scenario) if name in Count.FAULTS}


@pytest.mark.parametrize(
    ("run", "mistake", "fault"),
    [
        (scenarios.yes_and_yes, "takes every answer", Count.DOUBLE),
        (scenarios.answer_sent_twice, "takes every answer", Count.DOUBLE),
        (scenarios.yes_and_yes, "lies", Count.FALSE),
        (scenarios.reloaded_during_tool, "lies", Count.FALSE),
        (scenarios.message_sent_twice, "lies", Count.FALSE),
    ],
)
def test_a_planted_mistake_is_found(run, mistake, fault):
    assert found(Scenario("planted", run), mistake)[fault] > 0


def test_a_forgotten_answer_is_lost_and_its_turn_stuck():
    counts = found(Scenario("planted", scenarios.killed_with_open_question), "forgets")
    assert counts[Count.LOST] == PAYMENTS
    assert counts[Count.STUCK] == PAYMENTS


def test_the_outcomes_of_a_correct_peer_can_be_read():
    with ledger() as book, planted(book) as peer:
        scenarios.check_reading(Stage(peer, book, settles=0.5))


def test_a_peer_whose_outcomes_can_not_be_read_is_not_judged(monkeypatch):
    monkeypatch.setattr(Planted, "stated", lambda peer, body: None)
    with ledger() as book, planted(book) as peer:
        stage = Stage(peer, book, settles=0.5)
        with pytest.raises(AssertionError, match="planted"):
            scenarios.check_reading(stage)


def test_names_of_payments_contain_no_other_name():
    # A model knows them by what a text contains.
    for scenario in SCENARIOS:
        others = [one.run.__name__ for one in SCENARIOS if one is not scenario]
        assert not [name for name in others if scenario.run.__name__ in name]
