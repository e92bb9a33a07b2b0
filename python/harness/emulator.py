"""The emulator as a process, and its own routes."""

import json
import pathlib
import urllib.request
from contextlib import contextmanager

from launcher import EMULATOR, TIMEOUT, launched


class Emulator:
    """The emulator's own routes."""

    def __init__(self, url, certificate):
        self.url = url
        self.secure_url = url.replace("http://", "https://")
        self.certificate = certificate
        self.mark = 0

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/emulator/{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            text = response.read()
        return json.loads(text) if text else None

    def script(self, *rules, utterances=()):
        """Follows these rules from now on."""
        self.call("PUT", "script", {"rules": list(rules), "utterances": list(utterances)})

    def act(self, **act):
        """Does something to the sockets that are open."""
        assert self.call("POST", "live", act)["sockets"] > 0

    def log(self, kind=None):
        """What happened in this test."""
        entries = self.call("GET", f"log?after={self.mark}")["entries"]
        return [entry for entry in entries if kind in (None, entry["kind"])]

    def asked(self):
        """The bodies of the requests of this test."""
        return [entry["body"] for entry in self.log("request")]

    def logged(self, is_so):
        """Waits until something is written down."""
        after = self.mark
        while True:
            entries = self.call("GET", f"log?after={after}&wait={TIMEOUT}")["entries"]
            assert entries, "nothing of the kind was written down"
            for entry in entries:
                after = entry["seq"]
                if is_so(entry):
                    return entry

    def begin(self):
        """Forgets the script and what was written down."""
        self.call("DELETE", "script")
        entries = self.call("GET", f"log?after={self.mark}")["entries"]
        self.mark = entries[-1]["seq"] if entries else self.mark


@contextmanager
def emulator(directory):
    """Starts an emulator on a port of its own."""
    certificate = pathlib.Path(directory) / "certificate.pem"
    arguments = ["--listen", "127.0.0.1:0", "--certificate", str(certificate)]
    with launched(EMULATOR, arguments) as url:
        yield Emulator(url, certificate)
