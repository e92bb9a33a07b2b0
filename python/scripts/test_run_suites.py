"""What scripts/run-suites says of suites that pass, fail, or can't be run."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/run-suites"

MAKEFILE = """\
passes:
\t@echo fine
fails:
\t@exit 1
absent:
\t@echo 'it needs a toolchain' > $$NOT_RUN; exit 77
"""


class Summary(unittest.TestCase):
    def run_suites(self, *suites: str) -> tuple[int, str]:
        """The exit code and the summary of a run."""
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary)
            (root / "scripts").mkdir()
            shutil.copy(SCRIPT, root / "scripts")
            (root / "Makefile").write_text(MAKEFILE)
            environment = {
                name: value for name, value in os.environ.items() if not name.startswith("MAKE")
            }
            run = subprocess.run(
                [root / "scripts/run-suites", *suites],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            _, _, summary = run.stdout.partition("== Summary\n")
            return run.returncode, summary

    def test_all_that_pass_are_said_to_have_passed(self) -> None:
        code, summary = self.run_suites("-j2", "passes")
        assert code == 0
        assert "All tests passed\n" in summary

    def test_one_that_fails_keeps_no_other_from_running(self) -> None:
        code, summary = self.run_suites("fails", "passes", "absent")
        assert code == 1
        assert [line.split()[:2] for line in summary.split("\n")[:2]] == [
            ["fails", "FAILED"],
            ["passes", "passed"],
        ]
        assert "All tests passed" not in summary

    def test_one_that_was_not_run_has_not_passed(self) -> None:
        for jobs in ("-j1", "-j2"):
            with self.subTest(jobs):
                code, summary = self.run_suites(jobs, "absent", "passes")
                assert code == 0
                (line,) = [line for line in summary.split("\n") if line.startswith("absent ")]
                assert "not run" in line and line.endswith("it needs a toolchain"), line
                assert "All tests passed that were run; not run: absent" in summary


if __name__ == "__main__":
    unittest.main()
