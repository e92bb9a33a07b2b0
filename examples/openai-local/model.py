"""A server that speaks OpenAI's chat completions, in place of a local model: it asks where the user is,
and otherwise repeats the last message."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def deltas(
    messages: list[dict[str, object]], tools: list[dict[str, object]]
) -> Iterator[dict[str, object]]:
    last = messages[-1]
    content = last.get("content")
    if isinstance(content, list):
        content = " ".join(part.get("text", "") for part in content)
    if last["role"] == "tool":
        words = f"You are here: {content}"
    elif "where" in str(content).lower() and tools:
        name = tools[0]["function"]["name"]  # type: ignore[index]
        call = {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": name, "arguments": "{}"},
        }
        yield {"role": "assistant", "tool_calls": [call]}
        return
    else:
        words = f"You said: {content}. Ask me where you are."
    for word in words.split(" "):
        yield {"content": f"{word} "}


class Model(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(
            "application/json", json.dumps({"object": "list", "data": [{"id": "qwen3"}]}).encode()
        )

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        chunks = []
        reason = "stop"
        for delta in deltas(request["messages"], request.get("tools", [])):
            reason = "tool_calls" if "tool_calls" in delta else reason
            chunks.append({"index": 0, "delta": delta, "finish_reason": None})
        chunks.append({"index": 0, "delta": {}, "finish_reason": reason})
        frame = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "qwen3"}
        lines = [f"data: {json.dumps({**frame, 'choices': [chunk]})}\n\n" for chunk in chunks]
        self.answer("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())

    def answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
