"""The fenced blocks of documents, and how each is tested.

A block is tested as the comment directly above it says:

    <!-- from FILE -->              a part of FILE, which a test compiles or runs
    <!-- run [NAME=VALUE ...] -->   executed, with each NAME replaced by VALUE
    <!-- file NAME -->              the file NAME, for blocks that are executed after it
    <!-- prints -->                 what the executed block before it prints; … is anything
    <!-- answers METHOD PATH -->    the body that adk-stream answers with; … is anything
    <!-- read by FILE -->           read out of the document by the test FILE

Blocks of the languages `text` and `mermaid` are pictures, which begin with no command and no JSON. A block that can't be tested is listed in
untested.toml, with its reason.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[2]
UNTESTED = "python/snippets/untested.toml"

DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "bench/*.md",
    "crates/README.md",
    "crates/*/README.md",
    "crates/*/tests/*/README.md",
    "deploy/**/*.md",
    "examples/*/README.md",
    "python/*/README.md",
    "web/*/README.md",
)
PICTURES = ("text", "mermaid")

FENCE = re.compile(r"^ *(`{3,})\s*([\w-]*)")
MARKER = re.compile(r"^<!-- (from|run|file|prints|answers|read)((?: [^ ]+)*) -->$")
# What a picture does not begin with: a command, with variables before it if there are any, or JSON.
PROGRAMS = (
    "adk|adk-stream|cargo|cd|curl|docker|export|gemini-emulator|git|kubectl|ls|make|node|npm|npx"
    "|pip|psql|python3?|sudo|systemctl|uv|wget"
)
CODE = re.compile(rf"\s*(?:[{{\[]|[$#] |\.?/?[\w-]+/[\w./-]+ |(?:\w+=\S* )*(?:{PROGRAMS})\s)")
# How much of a block an exception quotes, at most.
QUOTED = 60


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    document: str
    # The number of the line with the opening fence.
    line: int
    language: str
    text: str
    # How it is tested: the first word of the comment above it, or nothing.
    kind: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def beginning(self) -> str:
        return " ".join(self.text.split())[:QUOTED].strip()


@dataclass(frozen=True)
class Untested:
    """A block that can't be tested, known by its document and how it begins."""

    document: str
    begins: str
    reason: str

    def is_about(self, block: Block) -> bool:
        words = " ".join(block.text.split())
        return self.document == block.document and words.startswith(self.begins)


def documents(root: Path = ROOT) -> Iterator[Path]:
    """Every document whose blocks have to be tested."""
    for pattern in DOCUMENTS:
        yield from sorted(root.glob(pattern))


def blocks(name: str, text: str) -> list[Block]:
    """The blocks of a document, in order."""
    found: list[Block] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        fence = FENCE.match(lines[number])
        if fence is None:
            number += 1
            continue
        opening = number
        number += 1
        inside: list[str] = []
        while number < len(lines) and not lines[number].strip().startswith(fence[1]):
            inside.append(lines[number])
            number += 1
        number += 1
        marker = MARKER.match(lines[opening - 1].strip()) if opening else None
        kind, arguments = (marker[1], tuple(marker[2].split())) if marker else ("", ())
        text = "\n".join(inside) + "\n"
        found.append(Block(name, opening + 1, fence[2], text, kind, arguments))
    return found


def untested(root: Path = ROOT) -> list[Untested]:
    """The blocks that can't be tested."""
    path = root / UNTESTED
    entries = tomllib.loads(path.read_text()).get("untested", []) if path.is_file() else []
    return [Untested(**entry) for entry in entries]


def fault(block: Block, before: list[Block], after: list[Block], root: Path) -> str | None:
    """What is wrong with the comment above a block, if anything is."""
    match block.kind, block.arguments:
        case "from", (source,):
            return compare(block.text, source, root)
        case "run", _:
            return None if block.language == "sh" else "only blocks of the language sh are executed"
        case "file", (_,):
            is_used = any(later.kind == "run" for later in after)
            return None if is_used else "no block after it is executed, which could use the file"
        case "prints", ():
            printing = [earlier for earlier in before if earlier.kind == "run"]
            return None if printing else "no block before it is executed, whose output it could be"
        case "answers", (_, path) if path.startswith("/"):
            return None
        case "read", ("by", test):
            reader = root / test
            name = Path(block.document).name
            is_read = reader.is_file() and name in reader.read_text()
            return None if is_read else f"{test} does not read {name}"
    return f"<!-- {' '.join([block.kind, *block.arguments])} --> is not understood; see python/snippets/blocks.py"


def compare(text: str, source: str, root: Path) -> str | None:
    """Why a text is not a part of the file that it is said to be from."""
    path = root / source
    if not path.is_file():
        return f"there is no file {source}"
    if not text.strip() or flat(text) not in flat(path.read_text()):
        return f"it differs from {source}; change one of the two"
    return None


def flat(text: str) -> str:
    """Text without its indentation, which differs between a file and a document."""
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def advice(block: Block) -> str:
    """What to add for a block that nothing tests."""
    run = (
        "\n    <!-- run -->   (it is executed by `make test-docs`)"
        if block.language == "sh"
        else ""
    )
    return f"""nothing tests this block. Put one of these lines directly above it:{run}
    <!-- from FILE -->   (it is a part of FILE, which a test compiles or runs)
    <!-- file NAME -->   (it is a file that executed blocks after it use)
    <!-- prints -->   (it is what the executed block before it prints)
    <!-- answers GET /PATH -->   (it is what adk-stream answers)
  or make it a picture (```text), or add to {UNTESTED}:
    [[untested]]
    document = "{block.document}"
    begins = '''{block.beginning}'''
    reason = "why it can't be tested\""""


def problems(root: Path = ROOT) -> list[str]:
    """Everything that is wrong with the blocks of all documents."""
    found: list[str] = []
    exceptions = untested(root)
    needed: set[Untested] = set()
    for path in documents(root):
        document = blocks(path.relative_to(root).as_posix(), path.read_text())
        for number, block in enumerate(document):
            problem = None
            if block.kind:
                problem = fault(block, document[:number], document[number + 1 :], root)
            elif block.language in PICTURES:
                if CODE.match(block.text):
                    problem = f"it begins as code, and {block.language} is for pictures: name its language"
            else:
                about = [exception for exception in exceptions if exception.is_about(block)]
                needed.update(about)
                problem = None if about else advice(block)
            if problem is not None:
                found.append(f"{block.place}: {problem}")
    for exception in exceptions:
        if exception not in needed:
            found.append(
                f"{UNTESTED}: no block of {exception.document} needs the exception that begins"
                f" with {exception.begins!r}: remove it"
            )
    return found
