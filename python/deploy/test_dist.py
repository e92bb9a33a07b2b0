"""The archive that `make dist` makes, here of the binary of the tests: what is in it, and its checksums."""

import hashlib
import os
import shutil
import subprocess
import tarfile

import pytest

from launcher import BINARY, ROOT

GENERATED = {
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


def manual_pages(folder):
    folder.mkdir()
    subprocess.run([BINARY, "reference", "man", "--folder", folder], check=True)
    return {page.name: page.read_bytes() for page in folder.iterdir()}


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
    pages = manual_pages(tmp_path / "man")
    assert pages.keys() >= {"adk-stream.1", "adk-stream-serve.1", "adk-stream-doctor.1"}
    manual = {f"share/man/man1/{name}": page for name, page in pages.items()}
    name = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as packed:
        files = {
            one.name.removeprefix(f"{name}/"): one for one in packed.getmembers() if one.isfile()
        }
        assert files.keys() == {"bin/adk-stream", *copied, *GENERATED, *manual}
        assert files["bin/adk-stream"].mode == 0o755

        def content(file):
            reader = packed.extractfile(files[file])
            assert reader is not None
            return reader.read()

        for file in copied:
            assert content(file) == (ROOT / file).read_bytes(), file
        for file, page in manual.items():
            assert content(file) == page, file
        for file, arguments in GENERATED.items():
            printed = subprocess.run([BINARY, *arguments], check=True, capture_output=True)
            assert content(file) == printed.stdout != b"", file


RUSTC = """#!/bin/sh
case "$*" in
-vV) echo "host: x86_64-unknown-linux-gnu" ;;
"--print target-libdir --target "*) echo "$SYSROOT/$4/lib" ;;
*) exit 1 ;;
esac
"""


def program(folder, name, text):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("libraries", "has_musl_gcc", "wanted", "chosen"),
    [
        (["gnu"], True, None, "gnu"),
        (["gnu", "musl"], False, None, "gnu"),
        (["gnu", "musl"], True, None, "musl"),
        (["gnu", "musl"], True, "gnu", "gnu"),
        (["gnu"], True, "musl", None),
    ],
)
def test_release_is_linked_with_musl_where_it_can_be(
    tmp_path, libraries, has_musl_gcc, wanted, chosen
):
    def name(library):
        return f"x86_64-unknown-linux-{library}"

    programs, sysroot = tmp_path / "bin", tmp_path / "sysroot"
    program(programs, "rustc", RUSTC)
    if has_musl_gcc:
        program(programs, "musl-gcc", "#!/bin/sh\n")
    for library in libraries:
        (sysroot / name(library) / "lib").mkdir(parents=True)
    # Nothing but what the script needs: this machine may have musl-gcc.
    for tool in ("sh", "bash", "sed", "head", "dirname"):
        (programs / tool).symlink_to(shutil.which(tool))
    environment = {"PATH": str(programs), "SYSROOT": str(sysroot)}
    if wanted:
        environment["TARGET"] = name(wanted)
    done = subprocess.run(
        [str(shutil.which("bash")), ROOT / "scripts/dist", "--target"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if chosen:
        assert (done.returncode, done.stdout) == (0, f"{name(chosen)}\n"), done
    else:
        assert done.returncode == 1 and f"rustup target add {name(wanted)}" in done.stderr, done


def test_binary_that_is_not_static_is_not_shipped(tmp_path):
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    for flags, is_static in ([], False), (["-static"], True), (["-static-pie"], True):
        binary = tmp_path / "program"
        subprocess.run(["cc", *flags, "-o", binary, source], check=True)
        done = subprocess.run(
            [ROOT / "scripts/dist", "--static", binary], capture_output=True, text=True, check=False
        )
        assert done.returncode == (0 if is_static else 1), (flags, done)
        assert is_static or done.stderr == f"dist: {binary} is not static\n"
