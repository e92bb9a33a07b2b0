"""The judge finds what is planted, and nothing else."""

import pytest

from judge import Answer, Count, Trial, judged
from peer import Outcome, View

YES = Answer(approve=True, is_acknowledged=True)
NO = Answer(approve=False, is_acknowledged=True)
UNHEARD_YES = Answer(approve=True, is_acknowledged=False)

PAID = View(Outcome.DONE, "All of it. Done.")
DENIED = View(Outcome.DENIED, "Then not.")
UNKNOWN = View(Outcome.UNKNOWN, "Nobody knows.")
FAILED = View(Outcome.FAILED, "It failed.")


def trial(*answers, view=PAID, runs=("call",), seen=()):
    return Trial("one", list(answers), list(seen), view, list(runs))


def sent(answer, statement):
    return Answer(answer.approve, answer.is_acknowledged, statement)


@pytest.mark.parametrize(
    "fine",
    [
        trial(YES),
        trial(NO, view=DENIED, runs=()),
        # Of two answers, either may count.
        trial(YES, NO),
        trial(YES, NO, view=DENIED, runs=()),
        # Nobody acknowledged it, so nothing has to run; the second answer came to nothing either.
        trial(UNHEARD_YES, view=DENIED, runs=()),
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(fine):
    assert judged(fine) == {}


def test_every_execution_after_the_first_is_counted():
    assert judged(trial(YES, runs=["call", "call", "call"])) == {Count.DOUBLE: 2}
    assert judged(trial(YES, runs=["call", "other call"])) == {Count.DOUBLE: 1}


def test_an_acknowledged_yes_that_never_ran_is_lost():
    waiting = View(Outcome.OPEN)
    assert judged(trial(YES, view=waiting, runs=()))[Count.LOST] == 1
    assert judged(trial(YES, view=DENIED, runs=()))[Count.LOST] == 1
    assert judged(trial(UNHEARD_YES, view=waiting, runs=()))[Count.LOST] == 0


def test_a_yes_is_not_lost_where_the_outcome_is_reported():
    reported = {Count.UNKNOWN: 1, Count.UNRUN: 1}
    assert judged(trial(YES, view=UNKNOWN, runs=())) == reported
    assert judged(trial(YES, view=FAILED, runs=())) == reported


def test_unknown_is_true_either_way():
    assert judged(trial(YES, view=UNKNOWN)) == {Count.UNKNOWN: 1}


@pytest.mark.parametrize("lie", [Outcome.DENIED, Outcome.FAILED])
def test_denied_or_failed_is_false_of_what_ran(lie):
    assert judged(trial(sent(YES, lie))) == {Count.FALSE: 1}
    assert judged(trial(YES, seen=[lie])) == {Count.FALSE: 1}
    assert judged(trial(YES, view=View(lie, "No.")))[Count.FALSE] == 1


def test_a_person_whose_no_lost_was_not_sent_that_it_was_denied():
    assert judged(trial(YES, sent(NO, Outcome.DENIED))) == {Count.FALSE: 1}
    assert judged(trial(YES, sent(NO, Outcome.DONE))) == {}


def test_done_is_false_of_what_did_not_run():
    assert judged(trial(sent(YES, Outcome.DONE), view=UNKNOWN, runs=()))[Count.FALSE] == 1


@pytest.mark.parametrize(
    "view",
    [
        View(Outcome.OPEN),
        View(Outcome.RUNNING),
        View(Outcome.MISSING),
        # The agent was cut off, has said nothing, or is said to be at work.
        View(Outcome.DONE, "All of"),
        View(Outcome.DONE),
        View(Outcome.DONE, "All of it. Done.", is_running=True),
        View(Outcome.DENIED),
    ],
)
def test_a_turn_that_does_not_end_is_stuck(view):
    assert judged(trial(YES, view=view))[Count.STUCK] == 1


def test_a_question_that_never_came_is_a_stuck_turn():
    unasked = Trial("one", problem="nobody was asked")
    assert judged(unasked) == {Count.STUCK: 1}
