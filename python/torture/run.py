"""Runs the scenarios against the peers, and prints what was found.

"$(scripts/python-env torture)" python/torture/run.py --payments 20 --peer adk-stream --write
"""

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]

import table  # noqa: E402
from emulator import Emulator, emulator  # noqa: E402
from judge import Trial, judged  # noqa: E402
from ledger import ledger  # noqa: E402
from peer import Peer  # noqa: E402
from peers.adk import AdkPeer  # noqa: E402
from peers.adk_stream import AdkStream, sqlite  # noqa: E402
from peers.ai_sdk import AiSdk  # noqa: E402
from peers.langgraph import LangGraph  # noqa: E402
from peers.mastra import Mastra  # noqa: E402
from peers.pydantic_ai import PydanticAi  # noqa: E402
from postgres import postgres  # noqa: E402
from scenarios import SCENARIOS, Stage, check_reading, played  # noqa: E402


@dataclass
class Site:
    """What a peer may need: a folder, a ledger, a model, a database; each is made when it is asked for."""

    folder: pathlib.Path
    ledger: str
    running: ExitStack

    def emulator(self) -> Emulator:
        return self.running.enter_context(emulator(self.folder))

    def database(self) -> str:
        return self.running.enter_context(postgres())


PEERS: dict[str, Callable[[Site], Peer]] = {
    "adk-stream": lambda s: AdkStream(s.folder, s.emulator(), s.ledger, sqlite(s.folder)),
    "adk-stream-postgres": lambda s: AdkStream(s.folder, s.emulator(), s.ledger, s.database()),
    "adk-stream-two": lambda s: AdkStream(s.folder, s.emulator(), s.ledger, s.database(), 2),
    "adk-stream-look-up": lambda s: AdkStream(
        s.folder, s.emulator(), s.ledger, sqlite(s.folder), looks_up=True
    ),
    "ai-sdk": lambda s: AiSdk(s.folder, s.ledger),
    "adk": lambda s: AdkPeer(s.folder, s.emulator(), s.ledger),
    "langgraph": lambda s: LangGraph(s.database(), s.ledger),
    "mastra": lambda s: Mastra(s.folder, s.ledger),
    "pydantic-ai": lambda s: PydanticAi(s.folder, s.ledger),
}


@contextmanager
def staged(name: str) -> Iterator[Stage]:
    """A peer that runs, and its ledger; all is ended at the end."""
    with ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory(prefix=f"torture-{name}-"))
        book = running.enter_context(ledger())
        peer = PEERS[name](Site(pathlib.Path(folder), book.url, running))
        running.callback(peer.stop)
        peer.start()
        yield Stage(peer, book)


def report(trial: Trial) -> str:
    answers = [
        f"{'yes' if one.approve else 'no'}"
        f"{' acknowledged' if one.is_acknowledged else ''}"
        f"{f', sent {one.statement.value}' if one.statement else ''}"
        for one in trial.answers
    ]
    shown = f"shown {trial.view.outcome.value}{'' if trial.view.is_over else ', not over'}"
    text = f"{trial.name}: [{'; '.join(answers)}] ran {len(trial.runs)} times, {shown}"
    return text + (f" ({trial.problem})" if trial.problem else "")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--payments", type=int, default=20, help="in each scenario")
    arguments.add_argument(
        "--peer", action="append", choices=PEERS, help="one of them; all by default"
    )
    arguments.add_argument("--scenario", default="", help="those whose names contain this")
    arguments.add_argument(
        "--write", action="store_true", help="keep the numbers in bench/torture.md"
    )
    given = arguments.parse_args()

    rows = []
    for name in given.peer or PEERS:
        with staged(name) as stage:
            print(f"\n{stage.peer.name} ({stage.peer.version})", flush=True)
            check_reading(stage)
            for scenario in SCENARIOS:
                if given.scenario not in scenario.name:
                    continue
                trials = played(stage, scenario, given.payments)
                rows.append(table.row(stage.peer, scenario.name, trials))
                print(f"  {scenario.name}: {table.cell(rows[-1])}", flush=True)
                for trial in trials:
                    if judged(trial):
                        print(f"    {report(trial)}", flush=True)
        if given.write:
            table.write(table.merged(table.stored(), rows))
    print("\n" + table.rendered(rows))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
