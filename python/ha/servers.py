"""Three adk-stream servers on the cluster, and HAProxy between them where it is wanted."""

import pathlib
import subprocess
from contextlib import ExitStack, contextmanager

from cluster import DEPLOY, direct_url, proxied_url, replaced
from launcher import BINARY, LISTENING, TIMEOUT
from machine import die_with_parent

# More than pay in any run.
PEOPLE = 20_000
CLUSTER_KEY = "known-to-this-cluster-alone"
SERVERS = 3


def key(person: int) -> str:
    return f"secret-of-person-{person}"


@contextmanager
def process(command, log: pathlib.Path, variables=None):
    """A process that ends with this one, and what it prints line by line."""
    with log.open("w") as output:
        started = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **(variables or {})},
            preexec_fn=die_with_parent,
        )
        try:
            yield started
        finally:
            started.kill()
            started.wait(TIMEOUT)
            assert started.stdout is not None
            started.stdout.close()


@contextmanager
def haproxy(logs: pathlib.Path):
    """HAProxy, which passes connections on to the primary."""
    text = replaced(
        (DEPLOY / "haproxy.cfg").read_text(), {"log /dev/log local0": "log stderr local0"}
    )
    file = logs / "haproxy.cfg"
    file.write_text(text)
    with process(["haproxy", "-db", "-f", str(file)], logs / "haproxy.log") as started:
        yield started


@contextmanager
def servers(way: str, logs: pathlib.Path):
    """The addresses of the servers, which reach PostgreSQL directly or through HAProxy."""
    keys = logs / "keys"
    keys.write_text("".join(f"person-{person}={key(person)}\n" for person in range(PEOPLE)))
    keys.chmod(0o600)
    variables = {
        "ADK_STREAM_STORE": {"direct": direct_url, "haproxy": proxied_url}[way](),
        "ADK_STREAM_CLUSTER_KEY": CLUSTER_KEY,
        "ADK_STREAM_KEYS_FILE": str(keys),
        "ADK_STREAM_LOG": "info,access=warn",
    }
    command = [str(BINARY), "serve", "--agent", "demo", "--listen", "127.0.0.1:0", "--pace", "1"]
    with ExitStack() as running:
        if way == "haproxy":
            running.enter_context(haproxy(logs))
        found = []
        for number in range(SERVERS):
            log = logs / f"adk-stream-{number}.log"
            started = running.enter_context(process(command, log, variables))
            assert started.stdout is not None
            line = started.stdout.readline()
            assert line.startswith(LISTENING), log.read_text()
            host, port = line.removeprefix(LISTENING).strip().removeprefix("http://").split(":")
            found.append((host, int(port)))
        yield found
