"""What sentences of documents name, and what of it does not exist."""

import unittest

from spans import Span, is_ours, refused, spans, unknown


def of(text: str) -> Span:
    return Span("a.md:1", text)


class Spans(unittest.TestCase):
    def test_what_does_not_exist_is_found(self) -> None:
        for text, problem in [
            ("make everything", "make has no everything"),
            ("scripts/nothing", "there is no scripts/nothing"),
            ("scripts/nothing --now", "there is no scripts/nothing"),
            ("cargo build -p adk-nothing", "there is no crate adk-nothing"),
            ("cd web && npm run nothing -w demo", "npm has no script nothing"),
        ]:
            with self.subTest(text):
                assert unknown(of(text)) == problem

    def test_what_exists_and_what_the_reader_chooses_is_fine(self) -> None:
        for text in [
            "make test",
            "make golden VERSION=0.2",
            "scripts/fuzz TARGET",
            "cargo build -p adk-stream",
            "docs/NAME.md",
            "examples/*/run",
            "crates/server/src/lib.rs",
            "a/b",
        ]:
            with self.subTest(text):
                assert unknown(of(text)) is None

    def test_documents_name_commands_of_make_and_of_our_programs(self) -> None:
        found = list(spans())
        assert sum(span.text.startswith("make ") for span in found) > 20
        assert sum(map(is_ours, found)) > 5

    def test_flags_and_commands_are_compared_with_the_help_of_the_program(self) -> None:
        assert refused(of("adk-stream serve --agent NAME --store memory")) is None
        assert refused(of("adk-stream serve --nothing")) == "there is no --nothing"
        assert refused(of("adk-stream nothing")) == "adk-stream has no command nothing"


if __name__ == "__main__":
    unittest.main()
