"""The bills of materials: valid by CycloneDX's own schema, and complete."""

import json
import subprocess
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sbom")
    subprocess.run([ROOT / "scripts" / "sbom", folder], check=True)
    return folder


def read(bills: Path, name: str) -> dict:
    text = (bills / name).read_text()
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(text) is None
    return json.loads(text)


def names(bill: dict) -> set[str]:
    return {component["name"] for component in bill["components"]}


def test_the_binarys_bill_lists_every_crate_that_it_is_built_from(bills: Path) -> None:
    bill = read(bills, "adk-stream.cdx.json")
    assert bill["metadata"]["component"]["name"] == "adk-stream"
    tree = subprocess.run(
        [
            "cargo",
            "tree",
            "--package",
            "adk-stream",
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    crates = {line.split()[0] for line in tree.stdout.splitlines() if line.strip()}
    assert crates - names(bill) <= {"adk-stream"}
    assert not {"proptest", "tempfile"} & names(bill), "what only tests need is not shipped"
    licensed = [component for component in bill["components"] if component.get("licenses")]
    assert len(licensed) == len(bill["components"])


def test_the_pages_bill_lists_what_it_is_bundled_from(bills: Path) -> None:
    bill = read(bills, "page.cdx.json")
    shipped = names(bill)
    assert {"react", "react-dom", "ai", "react-markdown"} <= shipped
    assert not {"vitest", "playwright-core", "typescript"} & shipped
