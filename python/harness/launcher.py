"""Starts adk-stream and the Gemini emulator as processes, and waits until they listen."""

import os
import pathlib
import random
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Python keeps what it has compiled, whatever the machine says, and not beside the sources: every start
# would else compile the whole framework again.
BYTECODE_CACHE = {
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(ROOT / "target/pycache"),
}
BINARY = pathlib.Path(os.environ.get("ADK_STREAM_BINARY", ROOT / "target/debug/adk-stream"))
EMULATOR = BINARY.with_name("gemini-emulator")

# Longer than anything here takes: who waits for so long waits for ever.
TIMEOUT = 60

LISTENING = "listening on "

# The variables that configure our programs, and those by which SDKs find models and their keys.
SETTING = re.compile(r"ADK_STREAM|^(GEMINI|GOOGLE|OPENAI|ANTHROPIC|LITELLM)_|_API_KEY$")

# Below those that a system gives to connections: a server that is started again finds its port free.
LISTENED_AT = range(20_000, 32_000)


def free_port() -> int:
    """A port that nobody has at the moment, and that no connection will get."""
    for port in random.sample(LISTENED_AT, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the tests without what would configure a program, and with these variables."""
    foreign = {name: value for name, value in os.environ.items() if not SETTING.search(name)}
    return {**foreign, **(variables or {})}


def start(
    command: Sequence[str | pathlib.Path],
    variables: Mapping[str, str] | None = None,
    **options: Any,
) -> subprocess.Popen[str]:
    """Starts a program, with options of Popen, without the variables that would configure it."""
    return subprocess.Popen(command, env=environment(variables), text=True, **options)


def launch(
    program: pathlib.Path,
    arguments: Sequence[str],
    variables: Mapping[str, str] | None = None,
    **options: Any,
) -> tuple[subprocess.Popen[str], str]:
    """Starts one of our programs, and says where it listens."""
    process = start([program, *arguments], variables, stdout=subprocess.PIPE, **options)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(LISTENING), f"{program.name} said {line!r}"
    return process, line.removeprefix(LISTENING).strip()


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> int:
    """Ends a program, and returns its exit code. One that does not end in time is killed."""
    process.send_signal(how)
    try:
        return process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    finally:
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def launched(
    program: pathlib.Path,
    arguments: Sequence[str],
    variables: Mapping[str, str] | None = None,
    how: signal.Signals = signal.SIGTERM,
    **options: Any,
) -> Iterator[str]:
    """Where a program listens, which is ended at the end. One that is asked to end has to end well."""
    process, url = launch(program, arguments, variables, **options)
    try:
        yield url
    except BaseException:
        end(process, signal.SIGKILL)
        raise
    code = end(process, how)
    assert how != signal.SIGTERM or code == 0, f"{program.name} ended with {code}"
