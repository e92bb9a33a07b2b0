"""An MCP server over stdio that does what its test asks for, and most of it is wrong.

How it starts is said by its arguments, what a call does by the tool's name. Each call is written to the
file that CALLS names before it is answered, and each cancellation with the number of its request.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
output = sys.stdout.buffer
writing = threading.Lock()
answers = {}
tools_extra = []


def send_raw(data):
    with writing:
        output.write(data)
        output.flush()


def send(message):
    send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def note(line):
    if path := os.environ.get("CALLS"):
        with open(path, "a") as calls:
            calls.write(line + "\n")


def text(words):
    return {"content": [{"type": "text", "text": words}]}


OBJECT = {"type": "object", "properties": {"n": {"type": "number"}}}


def tool(name, **more):
    return {"name": name, "description": f"Does {name}.", "inputSchema": OBJECT, **more}


def tools():
    listed = [
        tool("echo", annotations={"readOnlyHint": True, "idempotentHint": True}),
        tool(
            "structured",
            outputSchema={
                "type": "object",
                "properties": {"n": {"type": "number"}},
                "required": ["n"],
            },
        ),
        tool(
            "lie",
            outputSchema={
                "type": "object",
                "properties": {"n": {"type": "number"}},
                "required": ["n"],
            },
        ),
        tool("fail", annotations={"destructiveHint": True}),
        tool("refuse"),
        tool("media"),
        tool("progress"),
        tool("hang"),
        tool("hang_idempotent", annotations={"idempotentHint": True}),
        tool("freeze"),
        tool("die"),
        tool("die_idempotent", annotations={"idempotentHint": True}),
        tool("wrong_id"),
        tool("big"),
        tool("endless"),
        tool("flood"),
        tool("pings"),
        tool("garbage"),
        tool("shapeless"),
        tool("ask"),
        tool("elicit"),
        tool("change"),
        tool("pid"),
        tool("environment"),
        tool("meta"),
    ]
    if MODE == "odd":
        listed += [
            tool("with space/and ü"),
            tool("with_space_and_ü"),
            tool("x" * 80),
            {"name": "no_schema"},
            {"name": "text_schema", "inputSchema": "string"},
            {
                "name": "broken_schema",
                "inputSchema": {"type": "object", "properties": {"a": {"type": 5}}},
            },
            {"name": "list_schema", "inputSchema": {"type": "array"}},
            {
                "name": "far_schema",
                "inputSchema": {
                    "type": "object",
                    "properties": {"a": {"$ref": "https://example.com/a.json"}},
                },
            },
            {
                "name": "huge_schema",
                "inputSchema": {"type": "object", "description": "x" * 100_000},
            },
            {"name": "long", "description": "y" * 100_000, "inputSchema": {"type": "object"}},
            {"name": 5, "inputSchema": {}},
            "not a tool",
            tool("echo"),
        ]
    if MODE == "many":
        listed += [tool(f"tool_{n}") for n in range(2000)]
    return listed + [tool(name) for name in tools_extra]


def flood(kind):
    number = 0
    while True:
        number += 1
        if kind == "pings":
            send({"id": f"ping-{number}", "method": "ping"})
        else:
            send(
                {"method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}}
            )


def ask(method, params, timeout=5):
    identity = f"ask-{method}"
    asked = answers[identity] = queue.SimpleQueue()
    send({"id": identity, "method": method, "params": params})
    try:
        reply = asked.get(timeout=timeout)
    except queue.Empty:
        reply = {}
    if "error" in reply:
        return f"error {reply['error']['code']}"
    return json.dumps(reply.get("result"))


def call(identity, name, arguments, meta):
    note(f"call {name} {arguments.get('n')}")
    if name == "echo":
        answer = text(json.dumps(arguments))
    elif name == "structured":
        answer = {**text("{}"), "structuredContent": {"n": arguments.get("n", 0)}}
    elif name == "lie":
        answer = {**text("{}"), "structuredContent": {"n": "no number"}}
    elif name == "fail":
        answer = {**text("There is no such order."), "isError": True}
    elif name == "refuse":
        return send(
            {"id": identity, "error": {"code": -32602, "message": "not with these arguments"}}
        )
    elif name == "media":
        answer = {
            "content": [
                {"type": "text", "text": "two"},
                {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
                {"type": "hologram", "data": "?"},
            ]
        }
    elif name == "progress":
        for step in range(3):
            token = meta.get("progressToken")
            send(
                {
                    "method": "notifications/progress",
                    "params": {
                        "progressToken": token,
                        "progress": step,
                        "total": 3,
                        "message": f"step {step}",
                    },
                }
            )
            time.sleep(0.02)
        answer = text("done")
    elif name in ("hang", "hang_idempotent"):
        return None
    elif name == "freeze":
        with writing:
            time.sleep(3600)
    elif name in ("die", "die_idempotent"):
        os._exit(7)
    elif name == "wrong_id":
        return send({"id": 10_000_000, "result": text("for somebody else")})
    elif name == "big":
        size = int(arguments.get("n") or 50_000_000)
        return send({"id": identity, "result": text("x" * size)})
    elif name == "endless":
        while True:
            send_raw(b"x" * 65536)
    elif name in ("flood", "pings"):
        threading.Thread(target=flood, args=(name,), daemon=True).start()
        answer = text("flooding")
    elif name == "garbage":
        send_raw(b'this is no JSON\n\xff\xfe\n{}\n[]\n{"id":1}\n\n' + b"[" * 100_000 + b"\n")
        answer = text("after garbage")
    elif name == "shapeless":
        return send({"id": identity, "result": {"content": "no list"}})
    elif name == "ask":
        answer = text(
            "; ".join(
                [
                    ask(
                        "sampling/createMessage",
                        {
                            "messages": [
                                {"role": "user", "content": {"type": "text", "text": "hi"}}
                            ],
                            "maxTokens": 5,
                        },
                    ),
                    ask("roots/list", {}),
                    ask(
                        "elicitation/create",
                        {
                            "mode": "url",
                            "message": "Who?",
                            "url": "https://example.com",
                            "elicitationId": "e",
                        },
                    ),
                    ask("other/method", {}),
                ]
            )
        )
    elif name == "elicit":
        answer = text(
            ask(
                "elicitation/create",
                {
                    "message": "For how many?",
                    "requestedSchema": {
                        "type": "object",
                        "properties": {"people": {"type": "integer", "minimum": 1}},
                        "required": ["people"],
                    },
                },
                timeout=60,
            )
        )
    elif name == "change":
        if tools_extra:
            tools_extra.clear()
        else:
            tools_extra.append("added")
        send({"method": "notifications/tools/list_changed"})
        answer = text("changed")
    elif name == "added":
        answer = text("added was called")
    elif name == "pid":
        child = subprocess.Popen(["sleep", "3600"])
        answer = text(json.dumps([os.getpid(), child.pid]))
    elif name == "meta":
        answer = text(json.dumps(meta))
    elif name == "environment":
        answer = text(json.dumps(sorted(os.environ)))
    else:
        return send({"id": identity, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})
    return send({"id": identity, "result": answer})


def answer(message):
    method, identity = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method == "initialize":
        if MODE == "never":
            return
        if MODE == "slow":
            time.sleep(float(sys.argv[2]))
        # One that knows no newer version answers with its own, whatever it is asked for.
        version = sys.argv[2] if MODE == "version" else params["protocolVersion"]
        send(
            {
                "id": identity,
                "result": {
                    "protocolVersion": version,
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "fake", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        listed, start = tools(), int(params.get("cursor") or 0)
        result = {"tools": listed[start : start + 7]}
        if start + 7 < len(listed):
            result["nextCursor"] = str(start + 7)
        send({"id": identity, "result": result})
    elif method == "tools/call":
        arguments = (
            identity,
            params["name"],
            params.get("arguments") or {},
            params.get("_meta") or {},
        )
        threading.Thread(target=call, args=arguments, daemon=True).start()
    elif method == "notifications/cancelled":
        note(f"cancelled {params.get('requestId')} {params.get('reason')}")
    elif method is None and identity in answers:
        answers[identity].put(message)
    elif identity is not None and method is not None:
        send({"id": identity, "error": {"code": -32601, "message": "Method not found"}})


if MODE == "exit":
    print("There is no configuration.", file=sys.stderr)
    sys.exit(3)
for line in sys.stdin.buffer:
    answer(json.loads(line))
