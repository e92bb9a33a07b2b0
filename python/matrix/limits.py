"""What a version of ADK can't do, so that a flow ends otherwise than with the newest.

Each is asserted, with what happens instead: a version that can do it after all fails its test.
"""

from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class Limit:
    number: int
    servers: tuple[str, ...]
    flows: tuple[str, ...]
    why: str


ALL = [
    Limit(
        1,
        ("typescript-*",),
        (
            "live: words",
            "live: tool that asks by itself",
            "live: tool that calls the page by itself",
        ),
        "ADK for TypeScript has no `/run_live`.",
    ),
    Limit(
        2,
        ("python-1.*",),
        ("confirmations in parallel agents",),
        "ADK for Python 1.x does not find the agent that asked when it runs beside others: no tool "
        "runs, and the calls are *unknown*.",
    ),
    Limit(
        3,
        ("typescript-*",),
        ("confirmation in a loop",),
        "In a loop, ADK for TypeScript asks its model to go on while a question waits, and is refused: "
        "the turn fails with `agent_bad_request`, and the call is *unknown*.",
    ),
    Limit(
        4,
        ("*",),
        ("confirmation in an agent that is a tool",),
        "No ADK can ask from inside an agent that is a tool (`AgentTool`): nothing runs there, and the "
        "agent above gets an error or an empty result. Hand over to a sub-agent instead.",
    ),
]


def of(server, flow):
    """What a server can't do of a flow, if anything."""
    for limit in ALL:
        if flow in limit.flows and any(fnmatch(server, pattern) for pattern in limit.servers):
            return limit
    return None
