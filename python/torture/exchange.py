"""One HTTP request and what comes back, which can be watched and cut off while it comes."""

import contextlib
import http.client
import json
import socket
import threading
import urllib.parse

from launcher import TIMEOUT
from peer import Request


class Exchange:
    """A request that is sent in a thread of its own."""

    def __init__(self, url: str, request: Request, timeout: float = TIMEOUT) -> None:
        address = urllib.parse.urlsplit(url)
        assert address.hostname is not None
        self.connection = http.client.HTTPConnection(
            address.hostname, address.port, timeout=timeout
        )
        self.request = request
        self.changed = threading.Condition()
        self.status: int | None = None
        self.pieces: list[bytes] = []
        self.has_ended = False
        self.socket: socket.socket | None = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        try:
            self.connection.connect()
            self.socket = self.connection.sock
            content = None if self.request.body is None else json.dumps(self.request.body)
            headers = {"content-type": "application/json", "connection": "close"}
            self.connection.request(self.request.method, self.request.path, content, headers)
            response = self.connection.getresponse()
            self.note(status=response.status)
            while piece := response.read1():
                self.note(piece=piece)
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            # The server was killed, or the connection cut: by us, in another thread.
            pass
        finally:
            self.connection.close()
            with self.changed:
                self.has_ended = True
                self.changed.notify_all()

    def note(self, status: int | None = None, piece: bytes | None = None) -> None:
        with self.changed:
            self.status = status or self.status
            if piece is not None:
                self.pieces.append(piece)
            self.changed.notify_all()

    @property
    def body(self) -> str:
        return b"".join(self.pieces).decode(errors="replace")

    @property
    def is_acknowledged(self) -> bool:
        """Whether a response began that says that the request was taken."""
        return self.status is not None and 200 <= self.status < 300

    def wait_for(self, is_so, timeout: float = TIMEOUT) -> bool:
        """Waits until something is so, or until nothing more comes; whether it is so."""
        with self.changed:
            self.changed.wait_for(lambda: is_so() or self.has_ended, timeout)
            return is_so()

    def wait_for_response(self) -> bool:
        return self.wait_for(lambda: self.status is not None)

    def finish(self, timeout: float = TIMEOUT) -> "Exchange":
        """Waits for the end of the response."""
        self.thread.join(timeout)
        return self

    def cut(self) -> None:
        """Closes the connection, as a page that is reloaded."""
        if self.socket is not None:
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(TIMEOUT)


def fetched(url: str, request: Request):
    """The JSON of a response with 200, or nothing."""
    exchange = Exchange(url, request).finish()
    if exchange.status != 200:
        return None
    try:
        return json.loads(exchange.body)
    except ValueError:
        return None
