"""Starts adk-stream and the Gemini emulator as processes, and waits until they listen."""

import os
import pathlib
import subprocess
from collections.abc import Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("ADK_STREAM_BINARY", ROOT / "target/debug/adk-stream"))
EMULATOR = BINARY.with_name("gemini-emulator")

# Longer than anything here takes: who waits for so long waits for ever.
TIMEOUT = 60

LISTENING = "listening on "


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
