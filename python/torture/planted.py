"""A peer with mistakes on request, for the tests of the harness: a server in this process."""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from exchange import fetched
from peer import LAST_WORD, Outcome, Question, Request, View

TEXT = f"It is paid. {LAST_WORD}"


class Planted:
    """A correct peer, but for its mistake: what it stores survives a kill."""

    name = "planted"
    version = "1"
    setup = "in memory"
    recovery = 0.5

    def __init__(self, ledger: str, mistake: str | None = None) -> None:
        self.ledger, self.mistake = ledger, mistake
        self.lock = threading.Lock()
        self.chats: dict[str, str] = {}
        self.port = 0

    def start(self) -> None:
        peer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *arguments: object) -> None:
                """Nobody reads it."""

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                self.respond(peer.answered(**body))

            def do_GET(self) -> None:
                self.respond(peer.chats.get(self.path.removeprefix("/"), "missing"))

            def respond(self, outcome: str) -> None:
                content = json.dumps(outcome).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        for chat in [chat for chat, outcome in self.chats.items() if outcome == "running"]:
            self.chats[chat] = "open" if self.mistake == "asks again" else "unknown"

    def kill(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    stop = kill

    def answered(self, chat: str, approve: bool | None = None) -> str:
        """The state of a chat after a message, or after an answer."""
        with self.lock:
            if approve is None:
                return self.chats.setdefault(chat, "open")
            if self.chats[chat] != "open" and self.mistake != "takes every answer":
                return self.chats[chat]
            self.chats[chat] = "running" if approve else "denied"
        if not approve:
            return "denied"
        if self.mistake == "forgets":
            return "running"
        self.pay(chat)
        self.chats[chat] = "denied" if self.mistake == "lies" else "done"
        return self.chats[chat]

    def pay(self, chat: str) -> None:
        content = json.dumps({"to": chat, "call": "call"}).encode()
        urllib.request.urlopen(self.ledger, content, timeout=60).close()

    def url(self, person: int) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asking(self, chat: str) -> Request:
        return Request("/", {"chat": chat})

    def view(self, chat: str) -> tuple[View, Question | None]:
        outcome = Outcome(fetched(self.url(0), Request(f"/{chat}", None, "GET")) or "missing")
        return View(outcome, TEXT), Question(chat, None) if outcome is Outcome.OPEN else None

    def answering(self, question: Question, approve: bool) -> Request:
        return Request("/", {"chat": question.chat, "approve": approve})

    def stated(self, body: str) -> Outcome | None:
        return Outcome(json.loads(body)) if body else None

    def continuing(self, chat: str) -> Request | None:
        return None
