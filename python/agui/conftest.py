"""Starts each framework's agent, and adk-stream in front of it, once for all tests."""

from contextlib import ExitStack

import pytest

from agui import agent, agui_front

# The module of each agent, and where it is served.
FRAMEWORKS = {
    "pydantic-ai": ("pydantic_ai_agent", "/"),
    "langgraph": ("langgraph_agent", "/"),
    "langgraph-default": ("langgraph_agent", "/default"),
}


@pytest.fixture(scope="session")
def started(tmp_path_factory):
    """Each agent with adk-stream before it."""
    with ExitStack() as stack:
        fronts = {}
        for name, (module, path) in FRAMEWORKS.items():
            directory = tmp_path_factory.mktemp(name)
            behind = stack.enter_context(agent(directory, module, path))
            store = f"sqlite:{directory / 'journal.db'}"
            front = stack.enter_context(agui_front(behind, directory, store=store))
            fronts[name] = (behind, front)
        yield fronts


@pytest.fixture(params=FRAMEWORKS)
def framework(request):
    return request.param


@pytest.fixture
def behind(started, framework):
    return started[framework][0]


@pytest.fixture
def front(started, framework):
    return started[framework][1]


@pytest.fixture
def chat(front):
    return front.chat()
