"""Three adk-stream servers on the cluster, and HAProxy between them where it is wanted."""

import pathlib
import signal
import subprocess
from contextlib import ExitStack, contextmanager

from cluster import DEPLOY, direct_url, proxied_url, replaced
from launcher import BINARY, end, launched, start
from machine import die_with_parent

# More than pay in any run.
PEOPLE = 20_000
CLUSTER_KEY = "known-to-this-cluster-alone"
SERVERS = 3


def key(person: int) -> str:
    return f"secret-of-person-{person}"


@contextmanager
def haproxy(logs: pathlib.Path):
    """HAProxy, which passes connections on to the primary."""
    text = replaced(
        (DEPLOY / "haproxy.cfg").read_text(), {"log /dev/log local0": "log stderr local0"}
    )
    file = logs / "haproxy.cfg"
    file.write_text(text)
    with (logs / "haproxy.log").open("w") as log:
        started = start(
            ["haproxy", "-db", "-f", str(file)],
            {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            stdout=subprocess.DEVNULL,
            stderr=log,
            preexec_fn=die_with_parent,
        )
        try:
            yield started
        finally:
            end(started, signal.SIGKILL)


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
    command = ["serve", "--agent", "demo", "--listen", "127.0.0.1:0", "--pace", "1"]
    with ExitStack() as running:
        if way == "haproxy":
            running.enter_context(haproxy(logs))
        found = []
        for number in range(SERVERS):
            log = running.enter_context((logs / f"adk-stream-{number}.log").open("w"))
            url = running.enter_context(
                launched(
                    BINARY,
                    command,
                    variables,
                    signal.SIGKILL,
                    stderr=log,
                    preexec_fn=die_with_parent,
                )
            )
            host, port = url.removeprefix("http://").split(":")
            found.append((host, int(port)))
        yield found
