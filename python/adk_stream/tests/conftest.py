"""An adk-stream that a test scripts, and what ADK gives to a tool."""

from dataclasses import dataclass, field

import pytest

from fake_adk_stream import KEY, FakeAdkStream


@pytest.fixture
def fake(monkeypatch):
    fake = FakeAdkStream()
    monkeypatch.setenv("ADK_STREAM_URL", fake.url)
    monkeypatch.setenv("ADK_STREAM_AGENT_KEY", KEY)
    yield fake
    fake.close()


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
