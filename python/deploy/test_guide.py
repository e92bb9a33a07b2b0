"""Executes the commands of docs/deploy.md and docs/upgrade.md, in a folder that takes the place of the machine.

What belongs to the machine is replaced: paths below /etc, /usr/local and /var/lib, the ports, and the
programs that change the machine itself (sudo, apt-get, systemctl, systemd-sysusers). Everything else is
executed as it is written, with the files of deploy/, a real PostgreSQL and a real nginx.
"""

import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import tomllib

from launcher import BINARY, ROOT, TIMEOUT, free_port
from postgres import postgres, program

GUIDE = ROOT / "docs/deploy.md"
UPGRADE = ROOT / "docs/upgrade.md"
MARK = "<!-- read by python/deploy/test_guide.py -->"

SUDO = """#!/bin/bash
# There is one user here, whichever user a command names.
[ "$1" != -u ] || shift 2
exec "$@"
"""

# Knows five requests: to learn of the unit, to start it and to start it again, to have nginx read its
# sites, and to start Prometheus with its new configuration.
SYSTEMCTL = """#!/bin/bash
set -euo pipefail
start() {
  unit=ROOT/etc/systemd/system/adk-stream.service
  set -a
  source "$(sed -n 's/^EnvironmentFile=//p' "$unit")"
  set +a
  $(sed -n 's/^ExecStart=//p' "$unit") >> ROOT/adk-stream.log 2>&1 &
  echo $! > ROOT/adk-stream.pid
}
case "$*" in
  daemon-reload) ;;
  "enable --now adk-stream") start ;;
  "restart adk-stream")
    # One that has ended is started.
    kill "$(cat ROOT/adk-stream.pid)" 2> /dev/null || true
    while [ -d "/proc/$(cat ROOT/adk-stream.pid)" ]; do sleep 0.05; done
    start ;;
  "reload nginx")
    nginx > ROOT/nginx.out 2>&1 &
    echo $! >> ROOT/pids
    # Written once it listens; `nginx -t` leaves it empty.
    until [ -s ROOT/nginx.pid ]; do sleep 0.05; done ;;
  "restart prometheus")
    prometheus --config.file=ROOT/etc/prometheus/prometheus.yml --storage.tsdb.path=ROOT/prometheus \
      --web.listen-address=127.0.0.1:9090 > ROOT/prometheus.log 2>&1 &
    echo $! >> ROOT/pids ;;
  *) echo "systemctl $*: not expected" >&2; exit 1 ;;
esac
"""

NGINX = """#!/bin/bash
exec REAL -p ROOT -e ROOT/nginx.log -c ROOT/etc/nginx/nginx.conf -g 'daemon off;' "$@"
"""


def blocks(document):
    """The commands of a guide."""
    text = document.read_text()
    found = re.findall(re.escape(MARK) + r"\n```sh\n(.*?)```", text, re.DOTALL)
    assert len(found) == text.count(MARK) > 0
    return found


def section(document, heading):
    """A section of a guide."""
    _, _, rest = document.read_text().partition(f"{heading}\n")
    return rest.partition("\n## ")[0]


def lint(tree):
    """What was generated is what its readers expect."""
    completions = tree / "share/completions/adk-stream.bash"
    subprocess.run(["bash", "-n", completions], check=True, capture_output=True)
    for page in (tree / "share/man/man1").iterdir():
        text = page.read_text()
        assert text.startswith((".ie", ".TH")) and ".SH OPTIONS" in text, page
    sample = tomllib.loads((tree / "adk-stream.sample.toml").read_text())
    assert sample == {}
    assert (tree / "LICENSE-MIT").exists() and (tree / "docs/deploy.md").exists()


class Machine:
    """A folder in place of a machine: what is replaced in commands and files."""

    def __init__(self, folder: Path, database: str) -> None:
        self.root = folder / "root"
        self.work = folder / "work"
        self.programs = folder / "programs"
        self.pids = self.root / "pids"
        ports = {name: str(free_port()) for name in ("8080", "80", "443", "9464", "9090")}
        self.ports = ports
        self.database = urlsplit(database)
        self.replacements: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
            (r"(?<![\w.])/(etc|usr/local/bin|var/lib)/", rf"{self.root}/\1/"),
            (r"127\.0\.0\.1:(8080|443|9464|9090)\b", lambda found: f"127.0.0.1:{ports[found[1]]}"),
            (r"127\.0\.0\.1:5432\b", f"127.0.0.1:{self.database.port}"),
            # The guide waits for the first values.
            (r"scrape_interval: 15s", "scrape_interval: 1s"),
            (r"listen (80|443)\b", lambda found: f"listen 127.0.0.1:{ports[found[1]]}"),
        ]
        for name in (
            "etc/sysusers.d",
            "etc/systemd/system",
            "etc/prometheus",
            "usr/local/bin",
            "var/lib",
        ):
            (self.root / name).mkdir(parents=True)
        for name in ("sites-available", "sites-enabled"):
            (self.root / "etc/nginx" / name).mkdir(parents=True)
        self.work.mkdir()
        self.programs.mkdir()
        self.pids.touch()

    def local(self, text: str) -> str:
        for pattern, replacement in self.replacements:
            text = re.sub(pattern, replacement, text)
        return text

    def pack(self) -> None:
        """The archive of `make dist`, with the binary of the tests."""
        folder = self.work.parent / "dist"
        folder.mkdir()
        command = [str(ROOT / "scripts/dist"), "--pack", str(BINARY), str(folder)]
        fast = {**os.environ, "GZIP_LEVEL": "1"}
        subprocess.run(command, check=True, capture_output=True, env=fast)
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], check=True, cwd=folder)
        (packed,) = folder.glob("*.tar.gz")
        subprocess.run(["tar", "-xzf", packed], check=True, cwd=folder)
        (tree,) = (path for path in folder.iterdir() if path.is_dir())
        lint(tree)
        for path in (tree / "deploy").rglob("*"):
            if path.is_file():
                path.write_text(self.local(path.read_text()))
        # Only the files that were changed for this folder: compressing the binary again takes longest.
        with tarfile.open(self.work / packed.name, "w:gz", compresslevel=0) as archive:
            archive.add(tree, tree.name)
        with (self.work / "SHA256SUMS").open("w") as sums:
            subprocess.run(["sha256sum", packed.name], check=True, cwd=self.work, stdout=sums)

    def install(self) -> None:
        """The programs that change a machine, and those that Debian's packages bring."""
        nginx = shutil.which("nginx", path="/usr/sbin") or "nginx"
        texts = {"sudo": SUDO, "systemctl": SYSTEMCTL, "nginx": NGINX.replace("REAL", nginx)}
        texts |= {"apt-get": "#!/bin/sh\n", "systemd-sysusers": "#!/bin/sh\n"}
        for name, text in texts.items():
            path = self.programs / name
            path.write_text(self.local(text.replace("ROOT", str(self.root))))
            path.chmod(0o755)
        for name in ("psql", "createdb", "pg_dump"):
            (self.programs / name).symlink_to(program(name))
        temporary = "".join(
            f"{kind}_temp_path {self.root}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;\n" if os.geteuid() == 0 else ""
        (self.root / "etc/nginx/nginx.conf").write_text(
            f"{user}pid {self.root}/nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}"
            f"include {self.root}/etc/nginx/sites-enabled/*;\n}}\n"
        )

    def environment(self) -> dict[str, str]:
        path = [self.programs, self.root / "usr/local/bin", "/usr/bin", "/bin"]
        return {
            "PATH": ":".join(map(str, path)),
            "HOME": str(self.work),
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.database.port),
            "PGUSER": "postgres",
        }

    def run(self, *documents: Path) -> str:
        """Executes the commands of documents, each in a shell of its own, and returns what they print."""
        return "".join(self.execute("\n".join(blocks(document))) for document in documents)

    def execute(self, commands: str) -> str:
        """Executes commands, and returns what they print."""
        done = self.attempt(commands)
        assert done.returncode == 0, done.stdout + done.stderr + self.log()
        return done.stdout

    def attempt(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Executes commands that may fail."""
        return subprocess.run(
            ["bash", "-c", "set -euo pipefail\n" + self.local(commands)],
            cwd=self.work,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT * 5,
            check=False,
        )

    def log(self) -> str:
        log = self.root / "adk-stream.log"
        return log.read_text() if log.exists() else ""

    def server(self) -> int:
        """The process of adk-stream."""
        return int((self.root / "adk-stream.pid").read_text())

    def end(self) -> None:
        pids = self.pids.read_text().split()
        server = self.root / "adk-stream.pid"
        for pid in [*pids, *(server.read_text().split() if server.exists() else [])]:
            try:
                os.kill(int(pid), signal.SIGTERM)
            except ProcessLookupError:
                continue


@pytest.fixture
def machine(tmp_path):
    with postgres() as database:
        machine = Machine(tmp_path, database)
        machine.pack()
        machine.install()
        try:
            yield machine
        finally:
            machine.end()


def test_commands_of_the_guides_deploy_it_and_upgrade_it(machine):
    printed = machine.run(GUIDE)
    assert '"principal":"alice"' in printed
    assert '"type":"text-delta"' in printed and "data: [DONE]" in printed
    # What the guide's own turn added to the metrics.
    assert '"__name__":"adk_stream_turns_opened_total"' in printed
    # Others may not read what is secret.
    settings = machine.root / "etc/adk-stream/adk-stream.env"
    assert settings.stat().st_mode & 0o777 == 0o600

    before = machine.server()
    printed = machine.run(UPGRADE)
    assert re.search(r"adk-stream-\S+\.tar\.gz: OK", printed)
    assert "store: a write took" in printed
    assert (machine.root / "usr/local/bin/adk-stream.previous").exists()
    assert machine.server() != before


# What a newer version does to a store, as far as an older one can see.
MIGRATED = "UPDATE adk_stream.version SET number = number + 1"
SETTINGS = "set -a; . /etc/adk-stream/adk-stream.env"


def test_old_binary_refuses_a_store_that_was_migrated_and_opens_the_backup(machine):
    guide = blocks(GUIDE)
    started = next(place for place, block in enumerate(guide) if "enable --now" in block)
    machine.execute("\n".join(guide[: started + 1]))
    backup, restore = re.findall(r"`(\w+ [^`]* chats)`", section(UPGRADE, "## Going back"))
    machine.execute(f"{backup} > backup.sql")
    check, upgrade, back = blocks(UPGRADE)
    machine.execute(check + upgrade)
    machine.execute(f"psql --quiet --command='{MIGRATED}' chats")

    # It ends at once, in place of the wait that the guide has for one that starts.
    install, _, wait = back.partition("until ")
    assert "healthcheck" in wait
    version = int(
        machine.execute("psql -At --command='SELECT number FROM adk_stream.version' chats")
    )
    refusal = f"has a schema of version {version}, newer than {version - 1}, the newest"
    machine.execute(install)
    ended = machine.server()
    while Path(f"/proc/{ended}").exists():
        time.sleep(0.05)
    assert machine.log().count(refusal) == 1, machine.log()
    direct = machine.attempt(f"{SETTINGS}; exec adk-stream serve")
    assert direct.returncode == 2
    assert direct.stderr.count("\n") == 1 and refusal in direct.stderr, direct.stderr
    doctor = machine.attempt(f"{SETTINGS}; exec adk-stream doctor")
    assert doctor.returncode == 1
    assert "start the newer version of adk-stream" in doctor.stdout

    machine.execute(f"{restore}\n{SETTINGS}; exec adk-stream doctor")
    machine.execute(back)
