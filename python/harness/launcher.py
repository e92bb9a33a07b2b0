"""Starts adk-stream and the Gemini emulator as processes, and waits until they listen."""

import os
import pathlib
import random
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

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


def launch(
    program: pathlib.Path, arguments: Sequence[str], variables: Mapping[str, str] | None = None
) -> tuple[subprocess.Popen[str], str]:
    """Starts a program without the variables that would configure it, and says where it listens."""
    foreign = {
        name: value
        for name, value in os.environ.items()
        if "ADK_STREAM" not in name and "GEMINI_EMULATOR" not in name
    }
    process = subprocess.Popen(
        [program, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**foreign, **(variables or {})},
    )
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
) -> Iterator[str]:
    """Where a program listens, which is ended at the end. One that is asked to end has to end well."""
    process, url = launch(program, arguments, variables)
    try:
        yield url
    except BaseException:
        end(process, signal.SIGKILL)
        raise
    code = end(process, how)
    assert how != signal.SIGTERM or code == 0, f"{program.name} ended with {code}"
