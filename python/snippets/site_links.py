"""The links inside of a built site: each leads to a file of it, and to an id that is in that file.

python3 python/snippets/site_links.py target/book
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# It is served for paths that are not there, so that its links depend on the path.
NOT_FOUND = "404.html"


class Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if name := given.get("id"):
            self.ids.add(name)
        if tag == "a":
            if name := given.get("name"):
                self.ids.add(name)
            if link := given.get("href"):
                self.links.append(link)


def problems(root: Path) -> list[str]:
    """The links that lead nowhere."""

    @cache
    def read(path: Path) -> Page:
        return Page(path.read_text())

    found: list[str] = []
    for path in sorted(root.rglob("*.html")):
        if path.name == NOT_FOUND:
            continue
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            name = path.relative_to(root).as_posix()
            if not target.exists():
                found.append(f"{name}: no such file: {link}")
            elif (
                parts.fragment
                and target.suffix == ".html"
                and unquote(parts.fragment) not in read(target).ids
            ):
                found.append(f"{name}: no such place: {link}")
    return found


if __name__ == "__main__":
    broken = problems(Path(sys.argv[1]).resolve())
    for problem in broken:
        print(problem, file=sys.stderr)
    sys.exit(1 if broken else 0)
