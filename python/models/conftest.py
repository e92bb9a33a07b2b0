"""Starts the emulator, LiteLLM's proxy before it, and adk-stream before that, once for each API."""

from contextlib import ExitStack

import pytest

import emulator as emulators
from litellm_proxy import SCRIPTED, proxy
from model_front import model_front
from scripted_model import scripted_model

# By which API adk-stream asks the proxy.
APIS = {
    "chat-completions": ("openai", {"openai_api": "chat-completions"}),
    "responses": ("openai", {"openai_api": "responses"}),
    "messages": ("anthropic", {}),
}


@pytest.fixture(scope="session")
def started(tmp_path_factory):
    with emulators.emulator(tmp_path_factory.mktemp("emulator")) as started:
        yield started


@pytest.fixture
def emulator(started):
    started.begin()
    return started


@pytest.fixture(scope="session")
def scripted_started():
    with scripted_model() as started:
        yield started


@pytest.fixture
def scripted(scripted_started):
    """The model whose chunks a test writes."""
    scripted_started.begin()
    return scripted_started


@pytest.fixture(scope="session")
def litellm(started, scripted_started, tmp_path_factory):
    with proxy(tmp_path_factory.mktemp("litellm"), started, scripted_started) as running:
        yield running


@pytest.fixture(scope="session")
def fronts(litellm):
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(model_front(agent, litellm, **settings))
            for name, (agent, settings) in APIS.items()
        }


@pytest.fixture(scope="session")
def scripted_fronts(litellm):
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(model_front(agent, litellm, SCRIPTED, **settings))
            for name, (agent, settings) in APIS.items()
        }


@pytest.fixture(params=APIS)
def api(request):
    return request.param


@pytest.fixture
def front(fronts, api, emulator):
    return fronts[api]


@pytest.fixture
def chat(front):
    return front.chat()


@pytest.fixture
def scripted_chat(scripted_fronts, api, scripted):
    """A chat with the scripted model."""
    return scripted_fronts[api].chat()
