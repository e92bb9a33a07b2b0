"""Which words scripts/check-words finds, and which it allows."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/check-words"


class Words(unittest.TestCase):
    def check(self, text: str, allowed: str = "") -> tuple[int, str]:
        """The exit code for a source with this text, and all that is printed."""
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary)
            (root / "scripts").mkdir()
            (root / ".config").mkdir()
            (root / "crates").mkdir()
            shutil.copy(SCRIPT, root / "scripts")
            (root / ".config/allowed-words").write_text(allowed)
            (root / "crates/a.rs").write_text(text + "\n")
            subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
            subprocess.run(["git", "add", "crates"], cwd=root, check=True)
            run = subprocess.run(
                [root / "scripts/check-words"], capture_output=True, text=True, check=False
            )
            return run.returncode, run.stdout + run.stderr

    def test_plain_words_pass(self) -> None:
        text = (
            "struct RequestedProfile; // What was sent to the server, and withheld from others.\n"
        )
        assert self.check(text) == (0, "")

    def test_a_replaced_word_is_found_in_a_sentence_and_in_names(self) -> None:
        for text in (
            "// The model is sent what it was told.",
            "fn model_told_twice() {}",
            "const isSocketTold = true;",
            "const isStoodFor = true;",
            "struct Asked(Profile);",
            "interface Held {}",
        ):
            with self.subTest(text):
                code, printed = self.check(text)
                assert code == 1
                assert f"crates/a.rs:1:{text}" in printed
                assert "check-words: say " in printed

    def test_an_exception_needs_a_reason_and_a_use(self) -> None:
        text = "// The model was told."
        assert self.check(text, "crates/a.rs|told|a quotation\n") == (0, "")
        assert self.check(text, "crates/a.rs|told\n")[0] == 2
        code, printed = self.check("// Plain.", "crates/a.rs|told|a quotation\n")
        assert code == 1
        assert "nothing needs crates/a.rs|told" in printed


if __name__ == "__main__":
    unittest.main()
