"""PostgreSQL for tests: a real server in a temporary folder, which is removed."""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager

TIMEOUT = 60


def program(name):
    """Where Debian keeps the servers, off PATH, the newest first; elsewhere, on PATH."""
    found = pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    return str(max(found, key=lambda path: int(path.parts[-3]), default=name))


def unprivileged_user():
    """Who runs it where we are root: PostgreSQL refuses to be."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("there is nobody to run PostgreSQL")


def as_user(command):
    """The command, run by a user who is not root, and ended with its parent."""
    before = ["setpriv", "--pdeathsig=QUIT"]
    if user := unprivileged_user():
        before += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return [*before, *command]


def is_ready(data):
    """Whether the server says so of itself."""
    status = data / "postmaster.pid"
    lines = status.read_text().splitlines() if status.exists() else []
    return len(lines) > 7 and lines[7].strip() == "ready"


@contextmanager
def postgres():
    """The URL of an empty database."""
    # Not pytest's own folder, which nobody else may enter.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="adk-stream-postgres-"))
    if user := unprivileged_user():
        os.chown(folder, user.pw_uid, user.pw_gid)
    data = folder / "data"
    make = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
    command = as_user([program("initdb"), "--pgdata", data, *make])
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}"]
    command = [program("postgres"), "-D", data]
    command += [word for setting in settings for word in ("-c", setting)]
    with open(folder.with_suffix(".log"), "w+") as log:
        server = subprocess.Popen(as_user(command), cwd=folder, stdout=log, stderr=log)
        try:
            end = time.monotonic() + TIMEOUT
            while not is_ready(data):
                assert server.poll() is None and time.monotonic() < end, tail(log)
                time.sleep(0.01)
            yield f"postgres://postgres@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait(TIMEOUT)
            shutil.rmtree(folder)
            folder.with_suffix(".log").unlink()


def tail(log):
    log.seek(0)
    return log.read()[-2000:]
