"""Starts each framework's agent, and adk-stream in front of it, once for all tests."""

from contextlib import ExitStack

import pytest
from emulated import RULES

import emulator as emulators
from agui import agent, agui_front, interpreter

# The module of each agent, where it is served, and the environment that it needs, if not this one.
FRAMEWORKS = {
    "pydantic-ai": ("pydantic_ai_agent", "/", None),
    "langgraph": ("langgraph_agent", "/", None),
    "langgraph-default": ("langgraph_agent", "/default", None),
    "adk": ("adk_agent", "/", "agui-adk"),
    "adk-default": ("adk_agent", "/default", "agui-adk"),
}


@pytest.fixture(scope="session")
def gemini(tmp_path_factory):
    """The model of those agents that have no function in its place."""
    with emulators.emulator(tmp_path_factory.mktemp("emulator")) as gemini:
        yield gemini


@pytest.fixture(autouse=True)
def script(gemini):
    gemini.begin()
    gemini.script(*RULES)


@pytest.fixture(scope="session")
def started(tmp_path_factory, gemini):
    """Each agent with adk-stream before it."""
    settings = {"GOOGLE_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    with ExitStack() as stack:
        fronts = {}
        for name, (module, path, environment) in FRAMEWORKS.items():
            directory = tmp_path_factory.mktemp(name)
            more = {"python": interpreter(environment), **settings} if environment else {}
            behind = stack.enter_context(agent(directory, module, path, **more))
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
