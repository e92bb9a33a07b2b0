"""The examples, each started by its one command."""

import os
import re
import signal
import subprocess
import threading

import httpx
import pytest

from adk_typescript import install
from emulator import BINARY, PATIENCE, ROOT
from front import Front, free_port, until


@pytest.fixture(params=["adk-python", "adk-typescript"])
def example(request, tmp_path):
    if request.param == "adk-typescript":
        install()
    listen = f"127.0.0.1:{free_port()}"
    ledger = tmp_path / "ledger"
    settings = {"LISTEN": listen, "ADK_STREAM_BINARY": str(BINARY), "ASSISTANT_LEDGER": str(ledger)}
    names = {name: value for name, value in os.environ.items() if "ADK_STREAM" not in name}
    process = subprocess.Popen(
        [ROOT / "examples" / request.param / "run"],
        env={**names, **settings, "GOOGLE_API_KEY": ""},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout))
    try:
        for line in process.stdout:
            if found := re.search(r"listening on (http://\S+)", line):
                break
        assert process.poll() is None
        reader.start()
        yield Served(found[1]), ledger
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


class Served(Front):
    """adk-stream as somebody else has started it."""

    def __init__(self, url):
        self.url = url
        self.client = httpx.Client(timeout=PATIENCE)


def test_one_command_shows_an_agent_that_pays_after_a_yes(example):
    served, ledger = example
    chat = served.chat()
    chat.say("Send $20 to Sam")
    (approval,) = chat.approvals()
    assert not ledger.exists()
    served.answer(approval["approvalId"], True)
    assert "I sent $20 to Sam" in chat.last_words()
    until(lambda: ledger.read_text().count('"Sam"') == 1)
    chat.say("What is the weather in Tokyo?")
    assert chat.last_words() == "The weather in Tokyo: 18°C, Cloudy, 65% humidity."
