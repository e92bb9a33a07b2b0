"""Proxies as processes, each with its file of deploy/, in which only places and times are replaced."""

import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass

from launcher import ROOT, TIMEOUT, free_port

DEPLOY = ROOT / "deploy"
NAME = "chat.example.com"


@dataclass
class Certificate:
    """A self-signed certificate for NAME and 127.0.0.1, in a folder of its own."""

    folder: pathlib.Path

    @property
    def chain(self) -> pathlib.Path:
        return self.folder / "fullchain.pem"

    @property
    def key(self) -> pathlib.Path:
        return self.folder / "privkey.pem"

    @property
    def both(self) -> pathlib.Path:
        return self.folder / "haproxy.pem"


def make_certificate(folder: pathlib.Path) -> Certificate:
    certificate = Certificate(folder)
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-addext", f"subjectAltName=DNS:{NAME},DNS:localhost,IP:127.0.0.1"]
    command += ["-keyout", str(certificate.key), "-out", str(certificate.chain)]
    subprocess.run(command, check=True, capture_output=True)
    both = certificate.chain.read_text() + certificate.key.read_text()
    certificate.both.write_text(both)
    return certificate


def replaced(text: str, replacements: dict[str, str]) -> str:
    """The text with each replacement; what is to be replaced must be in it."""
    for old, new in replacements.items():
        assert old in text, f"{old!r} is not in the file"
        text = text.replace(old, new)
    return text


def nginx(folder, certificate, upstream, plain, secure, seconds):
    site = replaced(
        (DEPLOY / "nginx/adk-stream.conf").read_text(),
        {
            "127.0.0.1:8080": upstream,
            "listen 80;": f"listen 127.0.0.1:{plain};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{secure} ssl http2;",
            "/etc/ssl/adk-stream": str(certificate.folder),
            "_timeout 120s": f"_timeout {seconds}s",
        },
    )
    (folder / "site.conf").write_text(site)
    temporary = "".join(
        f"  {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = (
        f"pid {folder}/pid;\nerror_log {folder}/error.log;\nworker_processes 1;\n"
        # A worker may not enter a test's folder as another user.
        + ("user root;\n" if pathlib.Path("/proc/self").stat().st_uid == 0 else "")
        + "events { worker_connections 256; }\n"
        + f"http {{\n  access_log off;\n{temporary}  include {folder}/site.conf;\n}}\n"
    )
    (folder / "nginx.conf").write_text(whole)
    arguments = ["-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", f"{folder}/error.log"]
    return [program("nginx"), *arguments, "-g", "daemon off;"], signal.SIGTERM


def haproxy(folder, certificate, upstream, plain, secure, seconds):
    text = replaced(
        (DEPLOY / "haproxy/haproxy.cfg").read_text(),
        {
            "127.0.0.1:8080": upstream,
            "bind :80\n": f"bind 127.0.0.1:{plain}\n",
            "bind :443 ": f"bind 127.0.0.1:{secure} ",
            "/etc/ssl/adk-stream": str(certificate.folder),
            " 120s": f" {seconds}s",
            "log /dev/log local0": "log stderr local0",
            # It would want two descriptors for each, which a test may not have.
            "maxconn 20000": "maxconn 200",
        },
    )
    (folder / "haproxy.cfg").write_text(text)
    # SIGTERM would end it at once, SIGUSR1 when the last connection has ended.
    return [program("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")], signal.SIGTERM


def program(name: str) -> str:
    """Where a program is; Debian keeps some where only root's PATH has them."""
    found = shutil.which(name, path="/usr/sbin:/usr/local/sbin") or shutil.which(name)
    assert found, f"{name} is not installed"
    return found


PROXIES = {"nginx": nginx, "haproxy": haproxy}


@dataclass
class Proxy:
    """A proxy at work."""

    name: str
    plain: int
    secure: int
    certificate: Certificate

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate.chain))


@contextmanager
def proxy(name, folder, certificate, upstream, seconds=120):
    """Starts a proxy in front of `upstream`, and waits until it accepts connections."""
    plain, secure = free_port(), free_port()
    command, how_to_end = PROXIES[name](folder, certificate, upstream, plain, secure, seconds)
    log = folder / "log"
    variables = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=variables)
        try:
            for port in (plain, secure):
                accept(port, process, log)
            yield Proxy(name, plain, secure, certificate)
        finally:
            process.send_signal(how_to_end)
            try:
                process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def accept(port, process, log):
    """Waits until a port accepts connections."""
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT).close()
            return
        except ConnectionRefusedError:
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.01)
