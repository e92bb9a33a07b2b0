"""The archive that `make dist` makes, here of the binary of the tests: what is in it, and its checksums."""

import hashlib
import os
import subprocess
import tarfile

from launcher import BINARY, ROOT

GENERATED = {
    "share/man/man1/adk-stream.1": ["reference", "man"],
    "share/man/man1/adk-stream-serve.1": ["reference", "man-serve"],
    "share/completions/adk-stream.bash": ["reference", "bash"],
    "share/completions/_adk-stream": ["reference", "zsh"],
    "share/completions/adk-stream.fish": ["reference", "fish"],
    "adk-stream.sample.toml": ["reference", "sample"],
    "openapi.json": ["reference", "openapi"],
    "adk-stream.schema.json": ["schema"],
}


def pack(folder):
    folder.mkdir()
    command = [str(ROOT / "scripts/dist"), "--pack", str(BINARY), str(folder)]
    fast = {**os.environ, "GZIP_LEVEL": "1"}
    subprocess.run(command, check=True, capture_output=True, env=fast)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_archive_is_complete_and_the_same_each_time(tmp_path):
    archive = pack(tmp_path / "first")
    assert digest(archive) == digest(pack(tmp_path / "second"))
    sums = (archive.parent / "SHA256SUMS").read_text()
    assert sums == f"{digest(archive)}  {archive.name}\n"

    copied = {"README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"}
    copied |= {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    deploy = (path for path in (ROOT / "deploy").rglob("*") if path.is_file())
    copied |= {str(path.relative_to(ROOT)) for path in deploy}
    name = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as packed:
        files = {
            one.name.removeprefix(f"{name}/"): one for one in packed.getmembers() if one.isfile()
        }
        assert files.keys() == {"bin/adk-stream", *copied, *GENERATED}
        assert files["bin/adk-stream"].mode == 0o755

        def content(file):
            reader = packed.extractfile(files[file])
            assert reader is not None
            return reader.read()

        for file in copied:
            assert content(file) == (ROOT / file).read_bytes(), file
        for file, arguments in GENERATED.items():
            printed = subprocess.run([BINARY, *arguments], check=True, capture_output=True)
            assert content(file) == printed.stdout != b"", file
