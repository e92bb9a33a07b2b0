"""A run of one peer replaces its own rows, and those of the scenarios that were played."""

from table import Row, by_scenario, merged, totals


def row(peer, scenario="kill", payments=2, **counts):
    named = {name.replace("_", " "): count for name, count in counts.items()}
    return Row(peer, "1", "as it comes", scenario, payments, named)


def test_new_rows_replace_old_ones_and_set_ups_stay_together():
    old = [row("one, SQLite"), row("one, SQLite", "race"), row("two")]
    new = [row("one, SQLite", payments=9), row("one, PostgreSQL")]
    found = [(one.peer, one.scenario, one.payments) for one in merged(old, new)]
    assert found == [
        ("one, SQLite", "race", 2),
        ("one, SQLite", "kill", 9),
        ("one, PostgreSQL", "kill", 2),
        ("two", "kill", 2),
    ]


def test_the_tables_have_every_fault():
    rows = [row("one", double_executions=2, stuck_turns=1), row("one", "race", lost_answers=3)]
    assert "| one | 4 | 2 | 3 | 0 | 1 | 0 | 0 |" in totals(rows)
    assert "| kill (2) | 2 double, 1 stuck |" in by_scenario(rows)
    assert "| race (2) | 3 lost |" in by_scenario(rows)
