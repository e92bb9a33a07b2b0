"""The table of docs/adk.md has what the tests are about, and nothing else."""

import limits
import table
from conftest import SERVERS


def test_table_has_the_flows_the_servers_and_the_limits_of_the_tests():
    assert table.written() == table.rendered(SERVERS)


def test_every_limit_is_of_a_flow():
    flows = {flow for limit in limits.ALL for flow in limit.flows}
    assert flows <= {*table.flows()}


def test_limits_are_numbered_as_their_notes_are():
    assert [limit.number for limit in limits.ALL] == [*range(1, len(limits.ALL) + 1)]
