"""Executes the blocks of one document, in order, in one shell."""

import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from blocks import ROOT, Block

PRELUDE = Path(__file__).with_name("prelude.sh")
# Far more than any document needs, and little enough to notice one that hangs.
TIME_LIMIT = 300
LOCAL = re.compile(r"(127\.0\.0\.1:|localhost:|--port )(\d+)")
# An example, with variables before it if there are any.
EXAMPLE = re.compile(r"^((?:\w+=\S+ )*)(examples/[\w-]+/run)\b")
SERVERS = ("adk ", "adk-stream ", "gemini-emulator ")


class Ports:
    """Free ports in place of those that a document names: one for each of its own."""

    def __init__(self) -> None:
        self.held: dict[str, socket.socket] = {}

    def of(self, named: str) -> int:
        if named not in self.held:
            # Held until all are found, so that none is found twice.
            self.held[named] = socket.create_server(("127.0.0.1", 0))
        return int(self.held[named].getsockname()[1])

    def release(self) -> None:
        """Lets the servers of the document have them."""
        for listener in self.held.values():
            listener.close()

    def replace(self, text: str) -> str:
        return LOCAL.sub(lambda found: found[1] + str(self.of(found[2])), text)


def commands(block: Block, ports: Ports) -> str:
    """A block as it is executed: with its replacements, and with servers that the prelude awaits."""
    text = block.text
    for argument in block.arguments:
        name, _, value = argument.partition("=")
        text = text.replace(name, value)
    lines = []
    for line in ports.replace(text).split("\n"):
        if line.startswith(SERVERS):
            line = re.sub(r"\s&\s*(#.*)?$", "", line)
        lines.append(EXAMPLE.sub(r"\1run_example \2", line))
    return "\n".join(lines)


def script(document: list[Block], ports: Ports, folder: Path) -> str:
    """The blocks of a document as one script. What block N prints is in the file N."""
    parts = [f"source {shlex.quote(str(PRELUDE))}"]
    for number, block in enumerate(document):
        output = shlex.quote(str(folder / str(number)))
        match block.kind, block.arguments:
            case "run", _:
                text = commands(block, ports)
            case "file", (name,):
                text = f"printf %s {shlex.quote(ports.replace(block.text))} > {shlex.quote(name)}"
            case "answers", (method, path):
                text = f"adk-stream serve\ncurl -s -X {method} http://$ADK_STREAM_LISTEN{path}"
            case _:
                continue
        parts.append(f"echo '{block.place}' > {shlex.quote(str(folder / 'place'))}")
        parts.append(f"{{ :\n{text}\n}} > {output}")
    return "\n".join(parts) + "\n"


def environment(folder: Path, ports: Ports) -> dict[str, str]:
    """Our binaries and ADK's on the path, and nobody outside to talk to."""
    path = [ROOT / "target/debug", ROOT / "target/python-adk/bin"]
    return {
        "PATH": ":".join([*map(str, path), os.environ["PATH"]]),
        "HOME": str(folder),
        "ADK_STREAM_LISTEN": f"127.0.0.1:{ports.of('8080')}",
        # The prelude starts an emulator there for a document that has a key.
        "ADK_STREAM_GEMINI_BASE_URL": f"http://127.0.0.1:{ports.of('gemini')}",
        "ADK_PORT": str(ports.of("8000")),
        # The shop of an example takes a free one.
        "SHOP_PORT": "0",
        "VITE_PORT": str(ports.of("vite")),
        "ADK_STREAM_BINARY": str(ROOT / "target/debug/adk-stream"),
        "SNIPPET_LOG": str(folder / "log"),
    }


def lend_npm(folder: Path) -> None:
    """Gives npm the registry and the cache that it has outside: it looks for them at home."""
    for name in (".npmrc", ".npm"):
        if (Path.home() / name).exists():
            (folder / name).symlink_to(Path.home() / name)


def matches(expected: str, printed: str) -> bool:
    """Whether a text is what was expected, where … matches anything and space does not count."""
    parts = ["".join(part.split()) for part in expected.split("…")]
    pattern = ".*".join(map(re.escape, parts))
    return re.fullmatch(pattern, "".join(printed.split()), re.DOTALL) is not None


def problems(document: list[Block]) -> list[str]:
    """What goes wrong when the blocks of a document are executed, and where what they print differs."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        work = folder / "work"
        work.mkdir()
        # As a clone looks; what is written beside its files goes away.
        for entry in ROOT.iterdir():
            (work / entry.name).symlink_to(entry)
        lend_npm(folder)
        ports = Ports()
        text, variables = script(document, ports, folder), environment(folder, ports)
        ports.release()
        code, errors = execute(text, work, variables)
        if code != 0:
            place = (folder / "place").read_text().strip()
            why = f"not done in {TIME_LIMIT} seconds" if code is None else f"exit code {code}"
            return [f"{place}: {why}\n{errors}"]
        return different(document, folder)


def execute(text: str, work: Path, variables: dict[str, str]) -> tuple[int | None, str]:
    """The exit code of a script, none if it takes too long, and what it wrote on stderr."""
    shell = subprocess.Popen(
        ["bash", "-c", text],
        cwd=work,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A group of its own, so that whatever it has started can be ended with it.
        start_new_session=True,
    )
    try:
        _, errors = shell.communicate(timeout=TIME_LIMIT)
        return shell.returncode, errors
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        _, errors = shell.communicate()
        return None, errors


def different(document: list[Block], folder: Path) -> list[str]:
    """The blocks that are not what was printed or answered."""
    found = []
    printed = ""
    for number, block in enumerate(document):
        if block.kind in ("run", "answers"):
            printed = (folder / str(number)).read_text()
        if block.kind in ("prints", "answers") and not matches(block.text, printed):
            found.append(f"{block.place}: what is printed differs:\n{printed}")
    return found
