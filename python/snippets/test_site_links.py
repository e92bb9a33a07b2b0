"""Which links of a built site are found to lead nowhere."""

import tempfile
import unittest
from pathlib import Path

from site_links import problems


class SiteLinks(unittest.TestCase):
    def found(self, **pages: str) -> list[str]:
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary)
            (root / "adr").mkdir()
            for name, text in pages.items():
                (root / f"{name.replace('_', '/')}.html").write_text(text)
            return problems(root.resolve())

    def test_links_to_files_and_ids_pass(self) -> None:
        links = '<a href="b.html#sec%C3%BCre">b</a> <a class="x" href="#top">top</a>'
        others = '<a href="https://example.org/#x">x</a> <a href="mailto:a@b">m</a> <a>n</a>'
        back = '<h2 id="secüre">S</h2> <a href="../a.html#top">a</a>'
        a, b = f'<h1 id="top">T</h1> {links} {others}', '<h2 id="secüre">S</h2>'
        assert self.found(a=a, b=b, adr_c=back) == []

    def test_a_file_that_is_missing_is_named(self) -> None:
        assert self.found(a='<a href="b.html">b</a>') == ["a.html: no such file: b.html"]

    def test_an_id_that_is_missing_is_named(self) -> None:
        a, b = '<a href="b.html#one">1</a> <a href="#two">2</a>', '<p class="one" id="other">x</p>'
        assert self.found(a=a, b=b) == [
            "a.html: no such place: b.html#one",
            "a.html: no such place: #two",
        ]

    def test_the_page_for_paths_that_are_not_there_is_left_out(self) -> None:
        assert self.found(**{"404": '<a href="b.html">b</a>'}) == []


if __name__ == "__main__":
    unittest.main()
