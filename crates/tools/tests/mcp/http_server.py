"""An MCP server over streamable HTTP that does what the called tool's name says, and most of it is wrong.

It prints where it listens. Each call is written to the file that CALLS names, if it does, before it is
answered.
"""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = ["echo", "hang", "cut", "cut_stream", "redirect", "big", "big_stream", "gone"]
# How much `big` answers.
BIG = 50_000_000

# Requests that hang, until the server ends.
never = threading.Event()


def note(line):
    if path := os.environ.get("CALLS"):
        with open(path, "a") as calls:
            calls.write(line + "\n")


def text(words):
    return {"content": [{"type": "text", "text": words}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *arguments):
        """Calls are noted."""

    def do_GET(self):
        self.answer(405, b"")

    def do_DELETE(self):
        self.answer(200, b"")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, identity = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if self.path != "/mcp":
            note(f"elsewhere {self.path}")
        if identity is None:
            self.answer(202, b"")
        elif method == "initialize":
            self.reply(
                identity,
                {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "fake-http", "version": "1"},
                },
            )
        elif method == "tools/list":
            schema = {"type": "object", "properties": {"n": {"type": "number"}}}
            listed = [{"name": name, "inputSchema": schema} for name in TOOLS]
            self.reply(identity, {"tools": listed})
        elif method == "tools/call":
            note(f"call {params['name']}")
            getattr(self, params["name"])(identity)
        else:
            error = {"code": -32601, "message": "Method not found"}
            self.send({"jsonrpc": "2.0", "id": identity, "error": error})

    def echo(self, identity):
        self.reply(identity, text("echoed"))

    def hang(self, identity):
        never.wait()

    def cut(self, identity):
        """Ends in the middle of an answer in JSON."""
        self.begin(200, "application/json", 1000)
        self.wfile.write(b'{"jsonrpc": "2.0", ')
        self.close_connection = True

    def cut_stream(self, identity):
        """Ends a stream of events before the answer."""
        self.begin(200, "text/event-stream", 1000)
        self.wfile.write(b": nothing yet\n\n")
        self.close_connection = True

    def redirect(self, identity):
        self.send_response(307)
        self.send_header("location", "/elsewhere")
        self.send_header("content-length", "0")
        self.end_headers()

    def gone(self, identity):
        self.answer(500, b"It broke.")

    def big(self, identity):
        self.reply(identity, text("x" * BIG))

    def big_stream(self, identity):
        answer = {"jsonrpc": "2.0", "id": identity, "result": text("x" * BIG)}
        data = b"event: message\ndata: " + json.dumps(answer).encode() + b"\n\n"
        self.begin(200, "text/event-stream", len(data))
        self.wfile.write(data)

    def reply(self, identity, result):
        self.send({"jsonrpc": "2.0", "id": identity, "result": result})

    def send(self, message):
        self.answer(200, json.dumps(message).encode())

    def answer(self, status, body):
        self.begin(status, "application/json", len(body))
        self.wfile.write(body)

    def begin(self, status, kind, length):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(length))
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up in the middle of an answer is what some tests are about."""


server = Server(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
server.serve_forever()
