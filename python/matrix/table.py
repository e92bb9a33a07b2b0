"""The table of docs/adk.md: what was run behind which ADK, and what it can't do.

A row is a flow that a test is marked with, a column a server that the tests are run behind, and a note a
limit that a test asserts. `test_table.py` has nothing else in the document.
"""

import importlib
import pathlib

import limits
from launcher import ROOT

DOCUMENT = ROOT / "docs/adk.md"
BEGIN, END = "<!-- what the matrix found: begin -->\n", "<!-- what the matrix found: end -->\n"

# What was only read, not run: their registries can't be reached where this is tested.
READ = {"Java": "read", "Go": "read"}

found = {}


def note(server, flow, is_well):
    """Records the result of a flow. One that is run in several apps passes if all do."""
    flows = found.setdefault(flow, {})
    flows[server] = flows.get(server, True) and is_well


def flows():
    """The flows, in the order of their tests."""
    modules = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    functions = [
        value for name in modules for value in vars(importlib.import_module(name)).values()
    ]
    marks = [mark for function in functions for mark in getattr(function, "pytestmark", [])]
    # A flow may have several tests.
    return list(dict.fromkeys(mark.args[0] for mark in marks if mark.name == "flow"))


def cell(server, flow):
    limit = limits.of(server, flow)
    return f"no ({limit.number})" if limit else "yes"


def rendered(servers):
    """The table of what passes when every test does."""
    heads = [*(server.replace("-", " ").capitalize() for server in servers), *READ]
    rows = [f"| flow | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for flow in flows():
        cells = [cell(server, flow) for server in servers] + list(READ.values())
        rows.append(f"| {flow} | {' | '.join(cells)} |")
    notes = [f"{limit.number}. {limit.why}" for limit in limits.ALL]
    return "\n".join([*rows, "", *notes]) + "\n"


def written():
    """The table in the document."""
    _, _, rest = DOCUMENT.read_text().partition(BEGIN)
    return rest.partition(END)[0]


def write(servers):
    """Writes the table between its marks, if every flow was run behind every server, and passed."""
    missing = [(s, flow) for s in servers for flow in flows() if not found.get(flow, {}).get(s)]
    assert not missing, missing
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}{rendered(servers)}{END}{after}")
