"""A server of chat completions that answers as a test says: what LiteLLM passes on of a model at fault."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


def chunk(delta: Json, finish: str | None = None) -> Json:
    """A chunk of a stream, with one choice."""
    return {
        **{
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "scripted",
        },
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def text(words: str) -> list[Json]:
    return [chunk({"role": "assistant", "content": words}), chunk({}, "stop")]


def calls(*made: tuple[str, str, str]) -> list[Json]:
    """Calls in one step, each with its id, its tool and its arguments as they are sent."""
    tool_calls = [
        {
            "index": index,
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": given},
        }
        for index, (id, name, given) in enumerate(made)
    ]
    return [chunk({"role": "assistant", "tool_calls": tool_calls}), chunk({}, "tool_calls")]


class Scripted(ThreadingHTTPServer):
    """The server, and what it does next."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.begin()

    def begin(self) -> None:
        """Forgets its script and its requests."""
        # What it answers with, in order: chunks, and whether the stream is then cut.
        self.answers: list[tuple[list[Json], bool]] = []
        # A status and headers with which it refuses everything.
        self.refusal: tuple[int, dict[str, str]] | None = None
        self.asked: list[Json] = []

    def answer(self, chunks: list[Json], *, is_cut: bool = False) -> None:
        """What it answers with next; when nothing is left, it says so in words."""
        self.answers.append((chunks, is_cut))

    def refuse(self, status: int, **headers: str) -> None:
        self.refusal = status, {name.replace("_", "-"): value for name, value in headers.items()}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Scripted

    def log_message(self, format: str, *arguments: object) -> None:
        """Requests are noted in `asked`."""

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        self.server.asked.append(json.loads(self.rfile.read(length)))
        if self.server.refusal:
            self.refuse(*self.server.refusal)
        elif self.server.answers:
            self.stream(*self.server.answers.pop(0))
        else:
            self.stream(text("That is all."), False)

    def refuse(self, status: int, headers: dict[str, str]) -> None:
        body = json.dumps({"error": {"message": "no", "type": "refused", "code": None}}).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, chunks: list[Json], is_cut: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for sent in chunks:
            self.put(f"data: {json.dumps(sent)}\n\n")
        if is_cut:
            # Without the last piece, its client knows that more was to come.
            self.close_connection = True
            return
        self.put("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def put(self, piece: str) -> None:
        data = piece.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


@contextmanager
def scripted_model() -> Iterator[Scripted]:
    """Starts one, and ends it at the end."""
    server = Scripted()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
