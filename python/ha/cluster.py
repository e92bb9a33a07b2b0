"""Three machines with PostgreSQL, Patroni and etcd, by the files in deploy/patroni."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager

from launcher import ROOT, TIMEOUT
from machine import Machine
from postgres import program, unprivileged_user

DEPLOY = ROOT / "deploy/patroni"
NAMES = {"db1": "10.0.0.11", "db2": "10.0.0.12", "db3": "10.0.0.13"}
PASSWORD = "of-this-test"

# What is waited for here takes longer where others use the machine too.
PATIENT = 3 * TIMEOUT


def until(what: str, is_so, allowed: float = PATIENT):
    """Waits for something, and returns it."""
    end = time.monotonic() + allowed
    while not (found := is_so()):
        assert time.monotonic() < end, f"it did not happen: {what}"
        time.sleep(0.25)
    return found


def replaced(text: str, replacements) -> str:
    """The text with each replacement; what is to be replaced must be in it."""
    for old, new in replacements.items():
        assert old in text, f"{old!r} is not in the file"
        text = text.replace(old, new)
    return text


def settings(text: str) -> dict[str, str]:
    """The variables of an environment file."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def as_database_user(command) -> list[str]:
    """The command, run by a user who is not root."""
    user = unprivileged_user()
    if not user:
        return [*command]
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["setpriv", *ids, "--", *command]


class Node:
    """A machine of the cluster, its folder, and what runs on it."""

    def __init__(self, name: str, folder: pathlib.Path, logs: pathlib.Path) -> None:
        self.name, self.address = name, NAMES[name]
        self.machine = Machine(name, self.address)
        self.folder = folder / name
        self.folder.mkdir()
        if user := unprivileged_user():
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.etcd_log, self.patroni_log = logs / f"etcd-{name}.log", logs / f"patroni-{name}.log"

    def power_on(self) -> None:
        self.machine.power_on()
        self.start_etcd()
        self.start_patroni()

    def start_etcd(self) -> None:
        text = (DEPLOY / "etcd.env").read_text()
        own, _, common = text.partition("ETCD_INITIAL_CLUSTER=")
        own = own.replace("=db1", f"={self.name}").replace("10.0.0.11", self.address)
        own = own.replace("/var/lib/etcd/chats", f"{self.folder}/etcd")
        variables = settings(f"{own}ETCD_INITIAL_CLUSTER={common}")
        self.machine.start(as_database_user(["/usr/bin/etcd"]), self.etcd_log, variables)

    def start_patroni(self) -> None:
        text = replaced(
            (DEPLOY / "patroni.yml").read_text(),
            {
                "unix_socket_directories: /var/run/postgresql": f"unix_socket_directories: {self.folder}",
                # It would reset the machine that runs the tests.
                "mode: automatic": "mode: off",
            },
        )
        file = self.folder / "patroni.yml"
        file.write_text(text)
        environment = replaced(
            (DEPLOY / "patroni.env").read_text(),
            {
                "=db1": f"={self.name}",
                "10.0.0.11": self.address,
                "/var/lib/postgresql/15/chats": f"{self.folder}/data",
                "/usr/lib/postgresql/15/bin": str(pathlib.Path(program("postgres")).parent),
                "/var/lib/postgresql/.pgpass-patroni": f"{self.folder}/pgpass",
                "change-this-too": PASSWORD,
                "change-this": PASSWORD,
            },
        )
        command = as_database_user(["/usr/bin/patroni", str(file)])
        self.machine.start(command, self.patroni_log, settings(environment))


class Cluster:
    """The three of them."""

    def __init__(self, folder: pathlib.Path, logs: pathlib.Path) -> None:
        self.folder, self.logs = folder, logs
        self.nodes = [Node(name, folder, logs) for name in NAMES]

    def members(self, besides: Node | None = None) -> list[dict]:
        """What Patroni says of the cluster, at the first machine that answers. One that is cut off from
        the others answers, too, and knows nothing new."""
        for node in self.nodes:
            if node is besides:
                continue
            connection = http.client.HTTPConnection(node.address, 8008, timeout=2)
            try:
                connection.request("GET", "/cluster")
                return json.loads(connection.getresponse().read())["members"]
            except (OSError, ValueError, KeyError, http.client.HTTPException):
                continue
            finally:
                connection.close()
        return []

    def node_with(self, *roles: str, asking_besides: Node | None = None) -> Node | None:
        """The machine whose PostgreSQL runs and has one of these roles."""
        for member in self.members(asking_besides):
            if member["role"] in roles and member["state"] in ("running", "streaming"):
                return next(node for node in self.nodes if node.name == member["name"])
        return None

    def primary(self) -> Node:
        return until("there is a primary", lambda: self.node_with("leader", "master"))

    def synchronous_standby(self) -> Node:
        return until("there is a synchronous standby", lambda: self.node_with("sync_standby"))

    def is_whole(self) -> bool:
        """Whether all three run on one timeline, none is behind, and one is synchronous."""
        members = self.members()
        roles = sorted(member["role"].replace("master", "leader") for member in members)
        return (
            roles == ["leader", "replica", "sync_standby"]
            and all(member["state"] in ("running", "streaming") for member in members)
            and len({member.get("timeline") for member in members}) == 1
            and not any(member.get("lag", 0) for member in members)
        )

    def wait_until_whole(self) -> None:
        until(f"the cluster is whole: {self.members()}", self.is_whole)

    def sql(self, text: str, database: str = "chats") -> str:
        """Runs SQL at the primary, as the superuser."""
        conninfo = (
            f"host={self.primary().address} user=postgres dbname={database} connect_timeout=5"
        )
        command = [program("psql"), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]
        done = subprocess.run(
            [*command, "--set=ON_ERROR_STOP=1", "--command", text, conninfo],
            capture_output=True,
            text=True,
            check=False,
            env={"PGPASSWORD": PASSWORD, "PATH": os.environ["PATH"]},
            timeout=TIMEOUT,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def switch_over(self) -> None:
        """Has Patroni make the synchronous standby the primary, in an orderly way."""
        primary = self.primary()
        candidate = self.synchronous_standby()
        file = self.folder / "patronictl.yml"
        file.write_text((DEPLOY / "patroni.yml").read_text())
        command = ["/usr/bin/patronictl", "-c", str(file), "switchover", "chats", "--force"]
        command += ["--master", primary.name, "--candidate", candidate.name]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=TIMEOUT, cwd=self.folder
        )
        assert done.returncode == 0 and "Successfully switched over" in done.stdout, (
            done.stdout + done.stderr
        )

    def kill_etcd(self) -> None:
        for node in self.nodes:
            node.machine.kill("etcd")

    def start_etcd(self) -> None:
        for node in self.nodes:
            node.start_etcd()


@contextmanager
def cluster(logs: pathlib.Path):
    """A cluster with an empty database `chats` for the role adk_stream."""
    # Not pytest's own folder, which nobody else may enter.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="adk-stream-ha-"))
    folder.chmod(0o755)
    made = Cluster(folder, logs)
    try:
        for node in made.nodes:
            node.power_on()
        made.wait_until_whole()
        made.sql(f"CREATE ROLE adk_stream LOGIN PASSWORD '{PASSWORD}'", "postgres")
        made.sql("CREATE DATABASE chats OWNER adk_stream", "postgres")
        yield made
    finally:
        for node in made.nodes:
            node.machine.power_off()
        shutil.rmtree(folder)


def direct_url() -> str:
    hosts = ",".join(f"{address}:5432" for address in NAMES.values())
    return f"postgres://adk_stream:{PASSWORD}@{hosts}/chats"


def proxied_url() -> str:
    return f"postgres://adk_stream:{PASSWORD}@127.0.0.1:5000/chats"
