"""Machines that can be switched off, frozen and cut off: each is a set of processes in namespaces of
its own (processes, network, mounts), on one network with this process.

The namespaces have no names, and so end with their processes: with the first process of a machine all
others end, and that one ends with this program, however it ends.
"""

import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import time

from launcher import TIMEOUT

# The network of the machines. It exists only in the namespace of the tests.
HERE = "10.0.0.1"
PREFIX = 24

# Reaps what the processes of a machine leave, as the first process of a system does.
INIT = "sleep infinity & while :; do wait; done"


def ip(*words):
    """Runs iproute2's command, here."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


def begin_network():
    """The switch that all machines are connected to, and this process as well."""
    assert os.environ.get("ADK_STREAM_TEST_NAMESPACE"), (
        "These tests make a network, in a namespace of their own: run them by "
        "`scripts/in-namespace`, as `make ha` does."
    )
    ip("link", "set", "lo", "up")
    ip("link", "add", "switch", "type", "bridge")
    ip("address", "add", f"{HERE}/{PREFIX}", "dev", "switch")
    ip("link", "set", "switch", "up")


def die_with_parent():
    """Asks the system to kill this process when its parent ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


class Machine:
    """One machine."""

    def __init__(self, name: str, address: str) -> None:
        self.name, self.address = name, address
        self.holder: subprocess.Popen[bytes] | None = None
        self.entries: list[subprocess.Popen[bytes]] = []
        self.init = 0

    def power_on(self) -> None:
        """Starts it, with an address and nothing that runs."""
        assert self.holder is None, f"{self.name} is on"
        isolate = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child=KILL"]
        command = [*isolate, "--", "bash", "-c", INIT]
        self.holder = subprocess.Popen(command, preexec_fn=die_with_parent)
        self.init = self.first_process()
        port = f"to-{self.name}"
        ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(self.init))
        ip("link", "set", port, "master", "switch", "up")
        self.inside("ip", "link", "set", "lo", "up")
        self.inside("ip", "address", "add", f"{self.address}/{PREFIX}", "dev", "eth0")
        self.inside("ip", "link", "set", "eth0", "up")

    def first_process(self) -> int:
        assert self.holder is not None
        pid = self.holder.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        end = time.monotonic() + TIMEOUT
        # It runs its own program once its /proc is there.
        while not (found := children.read_text().split()) or not is_shell(found[0]):
            assert self.holder.poll() is None and time.monotonic() < end, "no namespaces"
            time.sleep(0.01)
        return int(found[0])

    def enter(self) -> list[str]:
        """What a command on this machine begins with."""
        return ["nsenter", f"--target={self.init}", "--net", "--pid", "--mount", "--"]

    def inside(self, *command: str) -> str:
        """Runs a command there, and returns what it prints."""
        done = subprocess.run(
            [*self.enter(), *command], capture_output=True, text=True, check=False, timeout=TIMEOUT
        )
        assert done.returncode == 0, f"{self.name}: {' '.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, command, log: pathlib.Path, variables) -> None:
        """Starts a command there, which ends with the machine."""
        with log.open("ab") as output:
            started = subprocess.Popen(
                [*self.enter(), *command],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **variables},
                cwd="/",
                preexec_fn=die_with_parent,
            )
        self.entries.append(started)

    def processes(self) -> list[int]:
        """All that run there, by the ids that they have here."""
        own = os.readlink(f"/proc/{self.init}/ns/pid")
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(folder / "ns/pid") == own:
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def named(self, name: str) -> list[int]:
        """Those of a program, by its name as ps shows it."""
        return [pid for pid in self.processes() if comm(pid) == name]

    def kill(self, name: str) -> None:
        """Kills a program there, all its processes, without a chance to clean up."""
        for pid in self.named(name):
            send(pid, signal.SIGKILL)
        end = time.monotonic() + TIMEOUT
        while any(state(pid) not in ("Z", "") for pid in self.named(name)):
            assert time.monotonic() < end, f"{name} does not end"
            time.sleep(0.01)

    def power_off(self) -> None:
        """Ends everything there at once, as when its power fails."""
        if self.holder is None:
            return
        send(self.init, signal.SIGKILL)
        self.holder.wait(TIMEOUT)
        for entry in self.entries:
            # One that was frozen with what it had started.
            send(entry.pid, signal.SIGCONT)
            entry.wait(TIMEOUT)
        # The system removes its cable some time after its last process. If it has, there is none to remove.
        subprocess.run(
            ["ip", "link", "delete", f"to-{self.name}"], capture_output=True, check=False
        )
        self.holder, self.entries = None, []

    def freeze(self) -> None:
        """Stops every process there, as a paused virtual machine."""
        end = time.monotonic() + TIMEOUT
        # New ones may be made until all are stopped.
        while running := [pid for pid in self.processes() if state(pid) not in ("T", "Z", "")]:
            assert time.monotonic() < end, f"{self.name} does not freeze"
            for pid in running:
                send(pid, signal.SIGSTOP)
            time.sleep(0.01)

    def thaw(self) -> None:
        for pid in [*self.processes(), *(entry.pid for entry in self.entries)]:
            send(pid, signal.SIGCONT)

    def cut_off(self) -> None:
        """Pulls its network cable."""
        ip("link", "set", f"to-{self.name}", "down")

    def reconnect(self) -> None:
        ip("link", "set", f"to-{self.name}", "up")

    def cut_off_from(self, peers) -> None:
        """Loses its way to some of the others, which keep theirs to all else."""
        for peer in peers:
            self.inside("ip", "route", "add", "blackhole", f"{peer.address}/32")

    def reconnect_to(self, peers) -> None:
        for peer in peers:
            self.inside("ip", "route", "delete", "blackhole", f"{peer.address}/32")


def send(pid: int, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, what)


def stat(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""


def comm(pid: int) -> str:
    return stat(pid).partition("(")[2].rpartition(")")[0]


def state(pid: int) -> str:
    """A letter, as ps shows it; none for a process that is gone."""
    return stat(pid).rpartition(") ")[2][:1]


def is_shell(pid: str) -> bool:
    return comm(int(pid)) == "bash"
