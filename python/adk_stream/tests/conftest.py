"""An adk-stream that does what a test tells it to, and what ADK gives to a tool."""

from dataclasses import dataclass, field

import pytest

from desk import KEY, Desk


@pytest.fixture
def desk(monkeypatch):
    desk = Desk()
    monkeypatch.setenv("ADK_STREAM_URL", desk.url)
    monkeypatch.setenv("ADK_STREAM_AGENT_KEY", KEY)
    yield desk
    desk.close()


@dataclass
class Session:
    id: str = "session-1"


@dataclass(eq=False)
class Context:
    """What ADK gives to a tool."""

    function_call_id: str | None = "call-1"
    state: dict = field(default_factory=lambda: {"adk_stream": {"chat": "chat-1"}})
    session: Session = field(default_factory=Session)


@pytest.fixture
def context():
    return Context()
