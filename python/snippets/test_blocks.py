"""What is found in documents, and what is refused."""

import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

from blocks import UNTESTED, blocks, problems
from session import Ports, commands, matches
from session import problems as problems_of


def document(*parts: str) -> str:
    return "\n".join(parts) + "\n"


CODE = ("```rust", "let a = 1;", "```")


class Found(unittest.TestCase):
    def test_a_block_has_its_comment_its_language_and_its_line(self) -> None:
        (first, second) = blocks(
            "a.md", document("<!-- from a.rs -->", *CODE, "", "```", "x", "```")
        )
        assert (first.kind, first.arguments) == ("from", ("a.rs",))
        assert (first.place, first.language, first.text) == ("a.md:2", "rust", "let a = 1;\n")
        assert (second.kind, second.language, second.place) == ("", "", "a.md:6")


class Refused(unittest.TestCase):
    def problems(self, text: str, **files: str) -> list[str]:
        """The problems of a README beside some files, which are named without their dots."""
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary)
            (root / "README.md").write_text(text)
            for name, content in files.items():
                path = root / name.replace("_", ".")
                path.write_text(content)
            return problems(root)

    def test_a_block_that_nothing_tests_is_refused_with_what_to_add(self) -> None:
        (problem,) = self.problems(document(*CODE))
        assert "README.md:1: nothing tests this block" in problem
        assert "document = \"README.md\"\n    begins = '''let a = 1;'''" in problem
        assert "<!-- run -->" not in problem
        (problem,) = self.problems(document("```sh", "ls", "```"))
        assert "<!-- run -->" in problem

    def test_a_picture_needs_no_test(self) -> None:
        assert self.problems(document("```text", "a → b", "```")) == []

    def test_code_is_no_picture(self) -> None:
        for code in [
            "curl -X POST http://a/",
            '{"error": {}}',
            "A=1 make run",
            "scripts/serve now",
        ]:
            with self.subTest(code):
                (problem,) = self.problems(document("```text", code, "```"))
                assert "begins as code" in problem

    def test_a_block_is_compared_with_its_file(self) -> None:
        text = document("<!-- from a.rs -->", *CODE)
        assert self.problems(text, a_rs="fn f() {\n    let a = 1;\n}\n") == []
        (problem,) = self.problems(text, a_rs="let a = 2;\n")
        assert "differs from a.rs" in problem
        (problem,) = self.problems(text)
        assert "there is no file a.rs" in problem

    def test_a_comment_that_means_nothing_is_refused(self) -> None:
        for comment, problem in [
            ("run", "only blocks of the language sh"),
            ("prints", "no block before it is executed"),
            ("file a.toml", "no block after it is executed"),
            ("from", "is not understood"),
            ("answers nowhere", "is not understood"),
            ("read by a.rs", "a.rs does not read README.md"),
        ]:
            with self.subTest(comment):
                (found,) = self.problems(document(f"<!-- {comment} -->", *CODE))
                assert problem in found

    def test_an_exception_holds_for_its_block_and_is_removed_with_it(self) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary)
            (root / UNTESTED).parent.mkdir(parents=True)
            entry = '[[untested]]\ndocument = "README.md"\nbegins = "let a"\nreason = "why"\n'
            (root / UNTESTED).write_text(entry)
            (root / "README.md").write_text(document(*CODE))
            assert problems(root) == []
            (root / "README.md").write_text("")
            (problem,) = problems(root)
            assert "remove it" in problem


class Executed(unittest.TestCase):
    def problems(self, *parts: str) -> list[str]:
        return problems_of(blocks("a.md", document(*parts)))

    def test_commands_share_a_shell_and_a_folder(self) -> None:
        run = ("<!-- run -->", "```sh", "export GREETING=hello; cat note", "```")
        then = ("<!-- run -->", "```sh", 'echo "$GREETING"', "```")
        note = ("<!-- file note -->", "```text", "it's here", "```")
        printed = ("<!-- prints -->", "```text", "hel…", "```")
        assert self.problems(*note, *run, *then, *printed) == []
        (problem,) = self.problems(*note, *run, *printed)
        assert "what is printed differs:\nit's here" in problem

    def test_a_command_that_fails_is_named(self) -> None:
        (problem,) = self.problems(
            "", "<!-- run -->", "```sh", "echo no >&2", "false", "true", "```"
        )
        assert "a.md:3: exit code 1\nno" in problem

    def test_what_takes_too_long_is_named_and_ended_with_all_that_it_started(self) -> None:
        with tempfile.TemporaryDirectory() as temporary, patch("session.TIME_LIMIT", 1):
            pid = Path(temporary) / "pid"
            command = f"sleep 1000 & echo $! > {pid}; wait"
            (problem,) = self.problems("", "<!-- run -->", "```sh", command, "```")
            assert "a.md:3: not done in 1 seconds" in problem
            stat = Path(f"/proc/{pid.read_text().strip()}/stat")
            # Gone, or a zombie that nobody has asked after yet.
            assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"

    def test_ports_are_free_ones_and_servers_do_not_block(self) -> None:
        text = document(
            "<!-- run APP=mine -->",
            "```sh",
            "adk-stream serve --adk-url http://127.0.0.1:8000 --adk-app APP &",
            "```",
        )
        ports = Ports()
        (block,) = blocks("a.md", text)
        port = ports.of("8000")
        assert (
            commands(block, ports).strip()
            == f"adk-stream serve --adk-url http://127.0.0.1:{port} --adk-app mine"
        )
        assert port != 8000
        ports.release()

    def test_dots_stand_for_anything(self) -> None:
        assert matches('{"a": …}', '{"a":[1,2]}')
        assert not matches('{"a": 1}', '{"a":[1]}')


if __name__ == "__main__":
    unittest.main()
