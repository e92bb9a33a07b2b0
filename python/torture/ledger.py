"""The ledger: a service outside of every peer, which counts how often a tool really ran.

It does not take a key for idempotency: every request is an execution, as with a service that has no such
thing. The id of the call is kept, so that one call that ran twice differs from two calls.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# How long a payment takes, so that two that come at the same time overlap.
TAKES = 0.2

# How long a payment is held at the most.
LONGEST = 60


class Ledger(ThreadingHTTPServer):
    """The service, and what was paid."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/pay"
        self.changed = threading.Condition()
        self.payments: list[tuple[str, str]] = []
        self.holds = False

    def runs(self, name: str) -> list[str]:
        """The ids of the calls that paid it."""
        with self.changed:
            return [call for to, call in self.payments if to == name]

    def wait_for(self, name: str, timeout: float) -> bool:
        """Waits until something is paid; whether it was."""
        with self.changed:
            return self.changed.wait_for(
                lambda: any(to == name for to, _ in self.payments), timeout
            )

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Payments that come meanwhile are made at once, and get no response before the end."""
        self.holds = True
        try:
            yield
        finally:
            with self.changed:
                self.holds = False
                self.changed.notify_all()

    def handle_error(self, request, client_address) -> None:
        """A tool whose server was killed reads no response."""


class Handler(BaseHTTPRequestHandler):
    server: Ledger

    def log_message(self, format: str, *arguments: object) -> None:
        """Payments are noted in `payments`."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ledger = self.server
        with ledger.changed:
            ledger.payments.append((body["to"], str(body.get("call"))))
            ledger.changed.notify_all()
            if ledger.holds:
                ledger.changed.wait_for(lambda: not ledger.holds, LONGEST)
        time.sleep(TAKES)
        self.respond(200, {"receipt": f"receipt-{body['to']}"})

    def do_GET(self) -> None:
        """What a call has paid, for those who ask: `/pay/CALL`."""
        id = self.path.rpartition("/")[2]
        with self.server.changed:
            paid = [to for to, call in self.server.payments if call == id]
        self.respond(200 if paid else 404, {"receipt": f"receipt-{paid[0]}"} if paid else {})

    def respond(self, status: int, body: dict[str, str]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def ledger() -> Iterator[Ledger]:
    """Starts one, and ends it at the end."""
    server = Ledger()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
