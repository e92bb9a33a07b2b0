"""The table of what was measured."""

from collections import Counter
from dataclasses import dataclass


@dataclass
class Row:
    """What one fault came to, with one way to the database."""

    fault: str
    way: str
    payments: int
    outcomes: Counter
    # In seconds, between two payments that ended.
    gap: float
    gap_on_return: float


def rendered(rows: list[Row]) -> str:
    heads = ["fault", "way to PostgreSQL", "payments", "paid", "denied", "unknown"]
    heads += ["longest gap, s", "longest gap when mended, s"]
    lines = [f"| {' | '.join(heads)} |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for row in rows:
        counts = [str(row.outcomes[name]) for name in ("paid", "denied", "unknown")]
        gaps = [f"{row.gap:.1f}", f"{row.gap_on_return:.1f}"]
        cells = [row.fault, row.way, str(row.payments), *counts, *gaps]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
