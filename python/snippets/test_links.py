"""Which links lead somewhere."""

import tempfile
import unittest
from pathlib import Path

from links import fragments, problems


class Links(unittest.TestCase):
    def problems(self, **files: str) -> list[str]:
        """The problems of some documents, which are named without their ending."""
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary)
            for name, text in files.items():
                (root / f"{name}.md").write_text(text)
            return problems(root)

    def test_a_heading_has_the_id_of_its_words(self) -> None:
        text = "# `Agent`, and [tools](tools.md)\n## What's new?\n### Snake_case\n"
        assert fragments(text) == {"agent-and-tools", "whats-new", "snake_case"}

    def test_a_heading_that_is_there_twice_is_counted(self) -> None:
        assert fragments("# A\n## B\n# A\n# A\n") == {"a", "b", "a-1", "a-2"}

    def test_a_given_id_is_a_target(self) -> None:
        assert fragments('<a id="here"></a>\n') == {"here"}

    def test_a_comment_in_a_block_is_no_heading(self) -> None:
        assert fragments("```sh\n# not a heading\n```\n") == set()

    def test_a_link_to_a_heading_is_followed(self) -> None:
        assert self.problems(a="[b](b.md#two-words) [here](#top)\n# Top\n", b="# Two words\n") == []
        assert self.problems(a="\n[b](b.md#three)\n", b="# Two\n") == [
            "a.md:2: no such heading: b.md#three"
        ]
        assert self.problems(a="[here](#nowhere)\n") == ["a.md:1: no such heading: #nowhere"]

    def test_a_link_to_no_file_is_found(self) -> None:
        assert self.problems(a="[b](b.md)\n") == ["a.md:1: no such file: b.md"]

    def test_links_elsewhere_and_in_blocks_are_not_followed(self) -> None:
        text = "[a](https://example.com/a#b) [m](mailto:a@b)\n```ts\nlist[0](missing)\n```\n"
        assert self.problems(a=text) == []


if __name__ == "__main__":
    unittest.main()
