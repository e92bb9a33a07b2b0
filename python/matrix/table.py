"""The table of docs/adk.md: what was run behind which ADK, and what it can't do."""

import limits
from emulator import ROOT

DOCUMENT = ROOT / "docs/adk.md"
BEGIN, END = "<!-- what the matrix found: begin -->\n", "<!-- what the matrix found: end -->\n"

# What was only read, not run: their registries can't be reached where this is tested.
READ = {"Java": "read", "Go": "read"}

found = {}


def note(server, flow, is_well):
    """Notes what came of a flow. One that is run in several apps is well if all are."""
    flows = found.setdefault(flow, {})
    flows[server] = flows.get(server, True) and is_well


def cell(server, flow):
    if server not in found[flow]:
        return ""
    assert found[flow][server], (server, flow)
    limit = limits.of(server, flow)
    return f"no ({limit.number})" if limit else "yes"


def write(servers):
    """Writes the table between its marks."""
    heads = [*(server.replace("-", " ").capitalize() for server in servers), *READ]
    rows = [f"| flow | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for flow in found:
        cells = [cell(server, flow) for server in servers] + list(READ.values())
        rows.append(f"| {flow} | {' | '.join(cells)} |")
    notes = [f"{limit.number}. {limit.why}" for limit in limits.ALL]
    text = "\n".join([*rows, "", *notes]) + "\n"
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}{text}{END}{after}")
