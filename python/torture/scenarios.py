"""The scenarios, the same for all peers.

One rule holds for every person in them: who sees an open question after having answered it answers it
once more, as a page with a button invites; who sees a turn that does not go on does, once, what the
peer's documentation says continues it.
"""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from exchange import Exchange
from judge import Answer, Trial
from launcher import TIMEOUT
from ledger import Ledger
from peer import OVER, Outcome, Peer, Question, Request, View

# How many payments are under way at a time, and at each kill.
AT_ONCE = 5

PAUSE = 0.1


@dataclass
class Stage:
    """A peer that runs, and the ledger that its tool writes to."""

    peer: Peer
    ledger: Ledger
    # How long a turn may take to end by itself where nothing was killed, in seconds.
    settles: float = 5.0

    def send(self, request: Request, person: int = 0) -> Exchange:
        return Exchange(self.peer.url(person), request)

    def look(self, trial: Trial) -> tuple[View, Question | None]:
        """Loads the page."""
        view, question = self.peer.view(trial.name)
        if view.outcome in OVER:
            trial.seen.append(view.outcome)
        return view, question

    def ask(self, trial: Trial) -> Question | None:
        """A person says what is to be paid, and is asked."""
        self.send(self.peer.asking(trial.name)).finish()
        return self.question(trial)

    def question(self, trial: Trial) -> Question | None:
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            _, question = self.look(trial)
            if question is not None:
                return question
            time.sleep(PAUSE)
        trial.problem = "nobody was asked"
        return None

    def answer(self, question: Question, approve: bool, person: int = 0) -> Exchange:
        return self.send(self.peer.answering(question, approve), person)

    def note(self, trial: Trial, exchange: Exchange, approve: bool) -> None:
        """Records what a person was sent for an answer."""
        statement = self.peer.stated(exchange.body) if exchange.status else None
        trial.answers.append(Answer(approve, exchange.is_acknowledged, statement))

    def settle(self, trial: Trial, allowed: float) -> None:
        """Waits for the end of the turn, and does once what people do."""
        if not self.is_over_within(trial, allowed):
            _, question = self.look(trial)
            if question is not None:
                exchange = self.answer(question, approve=True).finish()
                self.note(trial, exchange, approve=True)
            elif (request := self.peer.continuing(trial.name)) is not None:
                self.send(request).finish()
            self.is_over_within(trial, allowed)
        trial.view, _ = self.look(trial)

    def is_over_within(self, trial: Trial, allowed: float) -> bool:
        end = time.monotonic() + allowed
        while not (is_over := self.look(trial)[0].is_over) and time.monotonic() < end:
            time.sleep(PAUSE)
        return is_over


def at_once(work: Callable[[Trial], object], trials: Iterable[Trial]) -> None:
    """Does something for all trials, each in a thread of its own."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(work, trials))


def each(stage: Stage, trials: list[Trial], work: Callable[[Trial, Question], None]) -> None:
    """Asks, does something with the question, and waits for the end, for each trial by itself."""

    def whole(trial: Trial) -> None:
        question = stage.ask(trial)
        if question is not None:
            work(trial, question)
            stage.settle(trial, stage.settles)

    at_once(whole, trials)


def two_answers(stage: Stage, trials: list[Trial], second: bool) -> None:
    """Two people answer one question at the same time: yes, and yes or no."""

    def race(trial: Trial, question: Question) -> None:
        line = threading.Barrier(2)

        def click(person: int, approve: bool) -> Exchange:
            line.wait(TIMEOUT)
            return stage.answer(question, approve, person).finish()

        with ThreadPoolExecutor(2) as people:
            clicks = [(people.submit(click, n, yes), yes) for n, yes in enumerate((True, second))]
            for exchange, approve in clicks:
                stage.note(trial, exchange.result(), approve)

    each(stage, trials, race)


def yes_and_yes(stage: Stage, trials: list[Trial]) -> None:
    two_answers(stage, trials, second=True)


def yes_and_no(stage: Stage, trials: list[Trial]) -> None:
    two_answers(stage, trials, second=False)


def restarted(stage: Stage, trials: list[Trial]) -> None:
    """The server comes back, and everybody loads the page again."""
    stage.peer.start()
    at_once(lambda trial: stage.settle(trial, stage.peer.recovery), trials)


def killed_with_open_question(stage: Stage, trials: list[Trial]) -> None:
    """The server is killed while the question is open; the answer comes after the restart."""
    at_once(stage.ask, trials)
    stage.peer.kill()
    stage.peer.start()

    def rest(trial: Trial) -> None:
        question = stage.question(trial)
        if question is not None:
            trial.problem = None
            stage.note(trial, stage.answer(question, approve=True).finish(), approve=True)
            stage.settle(trial, stage.settles)

    at_once(rest, trials)


def killed_after_yes(
    stage: Stage, trials: list[Trial], wait: Callable[[Trial, Exchange], object]
) -> None:
    """The server is killed at a moment after a yes was sent."""
    questions: dict[str, Question] = {}

    def ask(trial: Trial) -> None:
        if (question := stage.ask(trial)) is not None:
            questions[trial.name] = question

    at_once(ask, trials)
    asked = [trial for trial in trials if trial.name in questions]
    exchanges: dict[str, Exchange] = {}

    def click(trial: Trial) -> None:
        exchanges[trial.name] = stage.answer(questions[trial.name], approve=True)
        wait(trial, exchanges[trial.name])

    at_once(click, asked)
    stage.peer.kill()
    for trial in asked:
        exchange = exchanges[trial.name]
        exchange.cut()
        stage.note(trial, exchange, approve=True)


def killed_after_acknowledgement(stage: Stage, trials: list[Trial]) -> None:
    """The server is killed as soon as every yes is acknowledged."""
    killed_after_yes(stage, trials, lambda trial, exchange: exchange.wait_for_response())
    restarted(stage, trials)


def killed_during_tool(stage: Stage, trials: list[Trial]) -> None:
    """The server is killed while the tools are at work: the ledger has them, and has not responded."""
    with stage.ledger.holding():
        killed_after_yes(
            stage, trials, lambda trial, exchange: stage.ledger.wait_for(trial.name, TIMEOUT)
        )
    restarted(stage, trials)


def reloaded_during_tool(stage: Stage, trials: list[Trial]) -> None:
    """The page is reloaded while the tool is at work."""

    def reload(trial: Trial, question: Question) -> None:
        exchange = stage.answer(question, approve=True)
        stage.ledger.wait_for(trial.name, TIMEOUT)
        exchange.cut()
        stage.note(trial, exchange, approve=True)

    each(stage, trials, reload)


def reloaded_during_words(stage: Stage, trials: list[Trial]) -> None:
    """The page is reloaded while the agent speaks, as soon as the tool's result was shown."""

    def reload(trial: Trial, question: Question) -> None:
        exchange = stage.answer(question, approve=True)
        exchange.wait_for(lambda: stage.peer.stated(exchange.body) is Outcome.DONE)
        exchange.cut()
        stage.note(trial, exchange, approve=True)

    each(stage, trials, reload)


def answer_sent_twice(stage: Stage, trials: list[Trial]) -> None:
    """A proxy sends the answer again while the tool is at work, and once more after the end."""

    def repeat(trial: Trial, question: Question) -> None:
        first = stage.answer(question, approve=True)
        stage.ledger.wait_for(trial.name, TIMEOUT)
        second = stage.answer(question, approve=True)
        for exchange in (first.finish(), second.finish()):
            stage.note(trial, exchange, approve=True)
        stage.note(trial, stage.answer(question, approve=True).finish(), approve=True)

    each(stage, trials, repeat)


def message_sent_twice(stage: Stage, trials: list[Trial]) -> None:
    """A proxy sends the person's message twice, at the same time; the person says yes."""

    def whole(trial: Trial) -> None:
        request = stage.peer.asking(trial.name)
        for exchange in [stage.send(request), stage.send(request)]:
            exchange.finish()
        if (question := stage.question(trial)) is not None:
            stage.note(trial, stage.answer(question, approve=True).finish(), approve=True)
            stage.settle(trial, stage.settles)

    at_once(whole, trials)


def check_reading(stage: Stage) -> None:
    """Where nothing goes wrong, a yes is paid and a no is denied, and both are read off the peer.

    An adapter that can't read an outcome would find no fault."""
    for approve, outcome in ((True, Outcome.DONE), (False, Outcome.DENIED)):
        trial = Trial(f"without-faults-{approve}".lower())
        question = stage.ask(trial)
        assert question is not None, f"{stage.peer.name}: {trial.problem}"
        exchange = stage.answer(question, approve).finish()
        stage.note(trial, exchange, approve)
        stage.settle(trial, stage.settles)
        found = (trial.answers[-1].statement, trial.view.outcome, trial.view.is_over)
        assert found == (outcome, outcome, True), f"{stage.peer.name}: {found}"
        assert len(stage.ledger.runs(trial.name)) == int(approve), stage.peer.name


@dataclass(frozen=True)
class Scenario:
    """A scenario and its name in the table."""

    name: str
    run: Callable[[Stage, list[Trial]], None]


SCENARIOS = [
    Scenario("two people: yes and yes", yes_and_yes),
    Scenario("two people: yes and no", yes_and_no),
    Scenario("killed while the question is open", killed_with_open_question),
    Scenario("killed after the yes was acknowledged", killed_after_acknowledgement),
    Scenario("killed during the tool", killed_during_tool),
    Scenario("page reloaded during the tool", reloaded_during_tool),
    Scenario("page reloaded during the words", reloaded_during_words),
    Scenario("answer sent twice", answer_sent_twice),
    Scenario("message sent twice", message_sent_twice),
]


def played(stage: Stage, scenario: Scenario, number: int) -> list[Trial]:
    """Plays a scenario with this many payments, some at a time."""
    names = [f"{scenario.run.__name__.replace('_', '-')}-{n:04}" for n in range(number)]
    trials = [Trial(name) for name in names]
    for first in range(0, number, AT_ONCE):
        scenario.run(stage, trials[first : first + AT_ONCE])
    for trial in trials:
        trial.runs = stage.ledger.runs(trial.name)
    return trials
