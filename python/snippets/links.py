"""The relative links of Markdown files: each leads to a file that exists, and to a heading of it."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from blocks import FENCE, ROOT

LINK = re.compile(r"\]\(([^) ]+)")
HEADING = re.compile(r"^#+ (.*)")
LINKED_TEXT = re.compile(r"\[([^\]]*)\]\([^)]*\)")
GIVEN_ID = re.compile(r"""<\w+ (?:id|name)=["']([^"']+)["']""")
FOREIGN = ("node_modules", "target", ".git")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a document that are in no fenced block."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
        elif opened := FENCE.match(line):
            fence = opened[1]
        else:
            yield number, line


def slug(heading: str) -> str:
    """The id that a heading gets where the document is shown."""
    words = LINKED_TEXT.sub(r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def fragments(text: str) -> set[str]:
    """What a link to a document can end with: the ids of its headings, and those that it gives itself."""
    found: set[str] = set()
    uses: Counter[str] = Counter()
    for _, line in prose(text):
        found.update(GIVEN_ID.findall(line))
        if heading := HEADING.match(line):
            name = slug(heading[1])
            found.add(f"{name}-{uses[name]}" if uses[name] else name)
            uses[name] += 1
    return found


def documents(root: Path) -> list[Path]:
    found = (path for path in root.rglob("*.md") if not path.is_symlink())
    return sorted(path for path in found if not set(FOREIGN) & set(path.relative_to(root).parts))


def problems(root: Path = ROOT) -> list[str]:
    """The links that lead nowhere."""
    found: list[str] = []
    headings: dict[Path, set[str]] = {}
    for document in documents(root):
        name = document.relative_to(root).as_posix()
        for number, line in prose(document.read_text()):
            for link in LINK.findall(line):
                if "://" in link or link.startswith("mailto:"):
                    continue
                path, _, fragment = link.partition("#")
                target = (document.parent / path).resolve() if path else document.resolve()
                if not target.exists():
                    found.append(f"{name}:{number}: no such file: {link}")
                elif fragment and target.suffix == ".md":
                    if target not in headings:
                        headings[target] = fragments(target.read_text())
                    if fragment not in headings[target]:
                        found.append(f"{name}:{number}: no such heading: {link}")
    return found


if __name__ == "__main__":
    broken = problems()
    for problem in broken:
        print(problem, file=sys.stderr)
    sys.exit(1 if broken else 0)
