"""The examples, each started by its one command."""

import os
import re
import signal
import subprocess
from contextlib import contextmanager

import httpx
import pytest

from adk_typescript import install
from front import Front, until
from launcher import BINARY, ROOT, TIMEOUT, free_port, start

# Nothing listens there.
NOWHERE = "http://127.0.0.1:9"


class Served(Front):
    """adk-stream as somebody else has started it."""

    def __init__(self, url):
        self.url = url
        self.client = httpx.Client(timeout=TIMEOUT)


class Example:
    """An example in a folder of its own, where an earlier run has left its logs."""

    def __init__(self, name, directory):
        self.logs = {part: directory / f"{part}.log" for part in ("emulator", "adk", "adk-stream")}
        for log in self.logs.values():
            log.write_text(f"listening on {NOWHERE}\nrunning on {NOWHERE}\naccess at {NOWHERE}\n")
        self.ledger = directory / "ledger.jsonl"
        settings = {
            "LISTEN": f"127.0.0.1:{free_port()}",
            "ADK_STREAM_BINARY": str(BINARY),
            "EXAMPLE_DIRECTORY": str(directory),
            "GOOGLE_API_KEY": "",
        }
        # What the command prints itself, and adk-stream, which it ends with.
        with self.logs["adk-stream"].open("w") as log:
            self.process = start(
                [ROOT / "examples" / name / "run"],
                settings,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ready(self):
        """Waits until it listens."""
        found = []

        def is_ready():
            log = self.logs["adk-stream"].read_text()
            found[:] = re.findall(r"listening on (http://\S+)\n", log)
            assert found or self.process.poll() is None, "the example has ended"
            return found

        until(is_ready, allowed=3 * TIMEOUT)
        return Served(found[0])

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(TIMEOUT)

    def print_logs(self):
        for part, log in self.logs.items():
            print(f"== {part}\n{log.read_text()}")
        # The emulator records there what it was asked, and what it answered.
        if found := re.search(r"listening on (http://\S+)", self.logs["emulator"].read_text()):
            print(f"== requests to the emulator\n{requests_to(found[1])}")


def requests_to(emulator):
    try:
        return httpx.get(f"{emulator}/emulator/log", params={"after": 0}).text
    except httpx.HTTPError as error:
        return repr(error)


@contextmanager
def example(name, directory):
    """An example that is ended at the end. Whatever fails meanwhile, the logs are printed."""
    started = Example(name, directory)
    try:
        yield started
    except BaseException:
        started.print_logs()
        raise
    finally:
        started.end()


@pytest.mark.parametrize("folder", ["adk-python", "adk-typescript"])
def test_one_command_shows_an_agent_that_pays_after_a_yes(folder, tmp_path):
    if folder == "adk-typescript":
        install()
    with example(folder, tmp_path) as started:
        served = started.ready()
        chat = served.chat()
        chunks = chat.say("Send $20 to Sam")
        assert "error" not in {chunk["type"] for chunk in chunks}, chunks[-1]
        (approval,) = chat.approvals()
        assert not started.ledger.exists()
        served.answer(approval["approvalId"], True)
        assert "I sent $20 to Sam" in chat.last_words()
        until(lambda: started.ledger.read_text().count('"Sam"') == 1)
        chat.say("What is the weather in Tokyo?")
        assert chat.last_words() == "The weather in Tokyo: 18°C, Cloudy, 65% humidity."
