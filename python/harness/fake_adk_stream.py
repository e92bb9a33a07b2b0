"""A small adk-stream on a real socket, which a test scripts."""

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "the-key-of-the-agent"


class FakeAdkStream:
    """Answers asks in the order of `answers`, and keeps what it was asked."""

    def __init__(self, port=0):
        self.asked: list[Ask] = []
        self.answers: list[Any] = []
        self.gone = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                ask = Ask(self.path, dict(self.headers), json.loads(body))
                fake.asked.append(ask)
                answer = fake.answers.pop(0) if fake.answers else (200, {"decision": "approved"})
                if callable(answer):
                    answer = answer(self, ask)
                if answer is not None:
                    fake.reply(self, *answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    @staticmethod
    def reply(handler, status, body, headers=None):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"Content-Length": len(content), **(headers or {})}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(content)

    def says(self, *answers):
        """A dict is a decision; a tuple is a status, a body and headers; a function does it all."""
        self.answers = [(200, answer) if isinstance(answer, dict) else answer for answer in answers]

    def hold(self, until, answer):
        """An answer that is given when something has happened."""

        def held(_handler, _ask):
            assert until.wait(10)
            return 200, answer

        return held

    def cut(self):
        """An answer that breaks off."""

        def cut(handler, _ask):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            handler.close_connection = True

        return cut

    def wait_for_the_client_to_leave(self):
        """No answer; notices when the client closes."""

        def waiting(handler, _ask):
            handler.connection.settimeout(10)
            if handler.connection.recv(1) == b"":
                self.gone.set()
            handler.close_connection = True

        return waiting

    def close(self):
        if self.thread.is_alive():
            self.server.shutdown()
            self.server.server_close()
            self.thread.join()


@dataclass
class Ask:
    path: str
    headers: dict
    body: dict
