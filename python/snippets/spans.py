"""The commands that documents name inside of sentences, as `make test`: each names something that exists.

They are not executed. Targets of make, files of the repository, packages of cargo and scripts of npm
are looked up; commands of our programs are compared with what `--help` says.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from blocks import FENCE, ROOT, documents

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FOLDERS = ("bench", "crates", "deploy", "docs", "examples", "fuzz", "python", "scripts", "web")
# A name in capitals is the reader's to choose, and so is what has braces or dots in its place.
PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]+\b|[{}<>…*]")
PROGRAMS = ("adk-stream", "gemini-emulator")


@dataclass(frozen=True)
class Span:
    """Code inside of a sentence."""

    place: str
    text: str


def spans(root: Path = ROOT) -> Iterator[Span]:
    """The code inside of the sentences of every document."""
    for path in documents(root):
        is_fenced = False
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if FENCE.match(line):
                is_fenced = not is_fenced
            elif not is_fenced:
                place = f"{path.relative_to(root).as_posix()}:{number}"
                yield from (Span(place, found) for found in SPAN.findall(line))


def unknown(span: Span, root: Path = ROOT) -> str | None:
    """What a span names that does not exist."""
    words = span.text.split()
    match words:
        case ["make", target, *_] if re.fullmatch(r"[a-z-]+", target):
            rule = re.compile(rf"^{target}:", re.MULTILINE)
            return None if rule.search((root / "Makefile").read_text()) else f"make has no {target}"
        case ["cargo", *rest]:
            names = [name for flag, name in pairwise(rest) if flag == "-p"]
            return next((f"there is no crate {n}" for n in names if n not in crates(root)), None)
        case ["npm", "run", script, *_] | ["cd", _, "&&", "npm", "run", script, *_]:
            known = any(script in scripts(path) for path in root.glob("web/**/package.json"))
            return None if known else f"npm has no script {script}"
    for word in words:
        folder, slash, _ = word.partition("/")
        # What is installed or built is not there in every clone.
        is_made = re.search(r"/(node_modules|dist|target)(/|$)", word)
        if slash and folder in FOLDERS and not is_made and not PLACEHOLDER.search(word):
            # With a place inside of the file, or where its tests end.
            path = re.split(r"[:#]", word.rstrip(".,;)"))[0]
            if not (root / path).exists() and not (root / f"{path}.rs").exists():
                return f"there is no {path}"
    return None


def crates(root: Path) -> set[str]:
    manifests = root.glob("crates/*/Cargo.toml")
    return {
        name
        for path in manifests
        for name in re.findall(r'^name = "(.+)"', path.read_text(), re.MULTILINE)
    }


def scripts(package: Path) -> set[str]:
    if "node_modules" in package.parts:
        return set()
    return set(json.loads(package.read_text()).get("scripts", {}))


def refused(span: Span, folder: Path = ROOT / "target/debug") -> str | None:
    """What a command of our programs has that `--help` does not know."""
    words = re.split(r"\s[>|&]", span.text)[0]
    if PLACEHOLDER.search(words.split(" --")[0]):
        return None
    program, *rest = shlex.split(words.replace("'", ""))
    command = [word for word in rest[:1] if re.fullmatch(r"[a-z]+", word)]
    text = subprocess.run(
        [folder / program, *command, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    if text.returncode != 0:
        return f"{program} has no command {' '.join(command)}"
    flags = [word.partition("=")[0] for word in rest if word.startswith("--")]
    return next((f"there is no {flag}" for flag in flags if f"{flag} " not in flat(text)), None)


def flat(result: "subprocess.CompletedProcess[str]") -> str:
    return result.stdout.replace("\n", " ") + "--help --version "


def is_ours(span: Span) -> bool:
    """Whether it is a command of our programs."""
    return span.text.startswith(tuple(f"{program} " for program in PROGRAMS))
