"""Judges a trial: the ledger says what happened, and everything else is compared with it."""

from collections import Counter
from dataclasses import dataclass, field

from peer import Outcome, View


@dataclass(frozen=True)
class Answer:
    """An answer that a person gave, and what came back."""

    approve: bool
    # A response with 2xx began.
    is_acknowledged: bool
    # What the response said of the call.
    statement: Outcome | None = None


@dataclass
class Trial:
    """One payment that one person asked for once."""

    name: str
    answers: list[Answer] = field(default_factory=list)
    # What pages showed that were loaded on the way.
    seen: list[Outcome] = field(default_factory=list)
    # What a page shows at the end, after everybody waited.
    view: View = field(default_factory=lambda: View(Outcome.MISSING))
    # The ids of the calls that the ledger has.
    runs: list[str] = field(default_factory=list)
    # Why it could not be carried out: a question that never came.
    problem: str | None = None


class Count:
    """What is counted."""

    DOUBLE = "double executions"
    LOST = "lost answers"
    FALSE = "false statements"
    STUCK = "stuck turns"
    UNKNOWN = "reported as unknown or failed"
    UNRUN = "of these, never ran"

    FAULTS = (DOUBLE, LOST, FALSE, STUCK)
    ALL = (*FAULTS, UNKNOWN, UNRUN)


def statements(trial: Trial) -> list[Outcome]:
    """Everything that clients were sent about the call."""
    sent = [answer.statement for answer in trial.answers if answer.statement is not None]
    return [*sent, *trial.seen, trial.view.outcome]


def is_false(statement: Outcome, runs: list[str]) -> bool:
    """Whether the ledger contradicts it, at the end of the trial."""
    if statement in (Outcome.DENIED, Outcome.FAILED):
        return bool(runs)
    return statement is Outcome.DONE and not runs


def is_lost(trial: Trial) -> bool:
    """Whether a yes was acknowledged, nobody's no was, and nothing ran, which nobody is shown."""
    if trial.runs or any(one.is_acknowledged and not one.approve for one in trial.answers):
        return False
    is_reported = trial.view.outcome in (Outcome.UNKNOWN, Outcome.FAILED)
    return any(one.is_acknowledged and one.approve for one in trial.answers) and not is_reported


def judged(trial: Trial) -> Counter[str]:
    """What is wrong with a trial."""
    if trial.problem is not None:
        return Counter({Count.STUCK: 1})
    is_unknown = trial.view.outcome is Outcome.UNKNOWN
    is_failed = trial.view.outcome is Outcome.FAILED and not trial.runs
    is_reported = is_unknown or is_failed
    found = {
        Count.DOUBLE: max(len(trial.runs) - 1, 0),
        Count.LOST: int(is_lost(trial)),
        Count.FALSE: int(any(is_false(one, trial.runs) for one in statements(trial))),
        Count.STUCK: int(not trial.view.is_over),
        Count.UNKNOWN: int(is_reported),
        Count.UNRUN: int(is_reported and not trial.runs),
    }
    return Counter({name: count for name, count in found.items() if count})
