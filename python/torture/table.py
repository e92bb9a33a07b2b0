"""What was found, as tables: all of it for each peer, and each scenario by itself."""

import json
import pathlib
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from judge import Count, Trial, judged
from launcher import ROOT

RESULTS = ROOT / "bench/results/torture.json"
DOCUMENT = ROOT / "bench/torture.md"
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"

# How a fault is called in a cell.
SHORT = {
    Count.DOUBLE: "double",
    Count.LOST: "lost",
    Count.FALSE: "false",
    Count.STUCK: "stuck",
    Count.UNKNOWN: "unknown",
}


@dataclass
class Row:
    """What one scenario came to with one peer."""

    peer: str
    version: str
    setup: str
    scenario: str
    payments: int
    counts: dict[str, int]


def row(peer: Any, scenario: str, trials: list[Trial]) -> Row:
    counts: Counter[str] = sum((judged(trial) for trial in trials), Counter())
    return Row(peer.name, peer.version, peer.setup, scenario, len(trials), dict(counts))


def cell(row: Row) -> str:
    found = [f"{row.counts[one]} {SHORT[one]}" for one in SHORT if row.counts.get(one)]
    return ", ".join(found) or "·"


def distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


def totals(rows: list[Row]) -> str:
    """A line for each peer."""
    heads = ["peer", "payments", *Count.ALL]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    for peer in distinct(row.peer for row in rows):
        own = [row for row in rows if row.peer == peer]
        counts = [str(sum(row.counts.get(one, 0) for row in own)) for one in Count.ALL]
        payments = sum(row.payments for row in own)
        lines.append(f"| {peer} | {payments} | {' | '.join(counts)} |")
    return "\n".join(lines)


def by_scenario(rows: list[Row]) -> str:
    """A line for each scenario, and a column for each peer."""
    peers = distinct(row.peer for row in rows)
    lines = [f"| | {' | '.join(peers)} |", "|---" * (len(peers) + 1) + "|"]
    found = {(row.scenario, row.peer): row for row in rows}
    for scenario in distinct(row.scenario for row in rows):
        payments = max(row.payments for row in rows if row.scenario == scenario)
        cells = [
            cell(found[scenario, peer]) if (scenario, peer) in found else "not run"
            for peer in peers
        ]
        lines.append(f"| {scenario} ({payments}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def setups(rows: list[Row]) -> str:
    """How each peer was set up."""
    lines = ["| peer | release | set up with |", "|---|---|---|"]
    for peer in distinct(row.peer for row in rows):
        first = next(row for row in rows if row.peer == peer)
        lines.append(f"| {peer} | {first.version} | {first.setup} |")
    return "\n".join(lines)


def rendered(rows: list[Row]) -> str:
    return "\n\n".join([totals(rows), by_scenario(rows), setups(rows)]) + "\n"


def stored(path: pathlib.Path = RESULTS) -> list[Row]:
    return [Row(**one) for one in json.loads(path.read_text())] if path.exists() else []


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """The rows of both, the new ones in the place of old ones, the set-ups of a peer side by side."""
    again = {(row.peer, row.scenario) for row in new}
    rows = [row for row in old if (row.peer, row.scenario) not in again] + new
    peers = distinct(row.peer for row in [*old, *new])
    families = distinct(family(peer) for peer in peers)
    return sorted(rows, key=lambda row: (families.index(family(row.peer)), peers.index(row.peer)))


def family(peer: str) -> str:
    """The peer without its set-up."""
    return peer.partition(",")[0]


def write(rows: list[Row]) -> None:
    """Keeps the rows, and writes the tables between their marks in the document."""
    RESULTS.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{rendered(rows)}\n{END}{after}")
