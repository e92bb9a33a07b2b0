"""adk-stream behind each proxy, with the file of deploy/ that an operator would install."""

import gzip
import http.client
import json
import re
import signal
import subprocess
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from websockets import Origin
from websockets.sync.client import connect

from launcher import BINARY, TIMEOUT, launched
from proxy import NAME, PROXIES, make_certificate, proxy

KEY = "a-key-of-this-test"
# Between two deltas, in milliseconds: far more than a proxy takes to pass one on.
PACE = 150
# How long the demo says nothing, in seconds: longer than the timeouts of the proxies in that test.
SILENCE = 25


@contextmanager
def server(*arguments):
    # Large bodies are sent here faster than one person may: their rate is not what is tested.
    rate = ["--max-body-bytes-per-second", "none"]
    command = ["serve", "--listen", "127.0.0.1:0", "--agent", "demo", *rate, *arguments]
    variables = {"ADK_STREAM_KEYS": f"alice={KEY}", "ADK_STREAM_LOG": "warn"}
    # Killed: it would wait for what the demo still says.
    with launched(BINARY, command, variables, signal.SIGKILL) as url:
        yield url.removeprefix("http://")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="session")
def upstream():
    with server("--pace", str(PACE)) as address:
        yield address


@pytest.fixture(scope="session", params=PROXIES)
def front(request, tmp_path_factory, certificate, upstream):
    folder = tmp_path_factory.mktemp(request.param)
    with proxy(request.param, folder, certificate, upstream) as started:
        wait_for_health(started)
        yield started


def wait_for_health(front):
    """Waits until the proxy has found the server to be well: some check first."""
    end = time.monotonic() + TIMEOUT
    while Client(front).send("GET", "/healthz").status != 200:
        assert time.monotonic() < end
        time.sleep(0.05)


class Client:
    """One connection to a proxy, over TLS."""

    def __init__(self, front, host=NAME):
        self.connection = http.client.HTTPSConnection(
            "127.0.0.1", front.secure, context=front.trust(), timeout=TIMEOUT
        )
        self.headers = {"host": host, "authorization": f"Bearer {KEY}"}

    def send(self, method, path, body=None, **headers):
        text = json.dumps(body).encode() if isinstance(body, dict) else body
        if text is not None:
            headers["content-type"] = "application/json"
        self.connection.request(method, path, text, {**self.headers, **headers})
        return self.connection.getresponse()

    def json(self, method, path, body=None, **headers):
        response = self.send(method, path, body, **headers)
        return response.status, json.loads(response.read())


def message(words, chat):
    parts = [{"type": "text", "text": words}]
    text = {"id": str(uuid.uuid4()), "role": "user", "parts": parts}
    return {"id": chat, "messages": [text], "trigger": "submit-message"}


def events(response):
    """The events of a stream, each with the time at which it was read."""
    for line in response:
        if line.startswith((b"data: ", b":")):
            yield time.monotonic(), line.decode().strip()


def park(front, chat):
    """Has the demo ask for an approval; returns the question."""
    client = Client(front)
    response = client.send("POST", "/api/chat", message("Send 10 USD to Hanako", chat))
    assert response.status == 200
    response.read()
    status, found = client.json("GET", "/api/approvals?limit=200")
    assert status == 200
    return next(one["approvalId"] for one in found["approvals"] if one["chatId"] == chat)


def test_stream_arrives_chunk_by_chunk(front):
    chat = f"chat-{uuid.uuid4()}"
    response = Client(front).send("POST", "/api/chat", message("Hello", chat))
    assert response.status == 200
    assert response.headers["content-type"] == "text/event-stream"
    assert response.headers["content-encoding"] is None
    lines = list(events(response))
    deltas = [at for at, line in lines if '"text-delta"' in line]
    # Held back by a buffer they would all come at the end.
    assert len(deltas) > 3, lines
    apart = deltas[-1] - deltas[0]
    assert apart > (len(deltas) - 1) * PACE / 1000 / 2, apart


def test_websocket_is_passed_on_with_its_origin(front):
    status, ticket = Client(front).json("POST", "/api/ticket")
    assert status == 200, ticket
    chat = f"chat-{uuid.uuid4()}"
    url = f"wss://127.0.0.1:{front.secure}/api/chat/live?ticket={ticket['ticket']}"
    # The page's own origin, as a browser reports it: it has to be the Host that arrives.
    with connect(
        url, ssl=front.trust(), origin=Origin(f"https://127.0.0.1:{front.secure}")
    ) as socket:
        frame = {"type": "send", "requestId": "1", "headers": {}, "body": {}}
        socket.send(json.dumps({**frame, **message("Hello", chat)}))
        seen = []
        while not any('"finish"' in text for text in seen):
            seen.append(str(socket.recv(timeout=TIMEOUT)))
    assert sum('"text-delta"' in text for text in seen) > 3, seen


def test_approval_is_asked_and_answered(front):
    chat = f"chat-{uuid.uuid4()}"
    approval = park(front, chat)
    client = Client(front)
    status, body = client.json("POST", f"/api/approvals/{approval}", {"approved": True})
    assert status == 200, body
    end = time.monotonic() + TIMEOUT
    while client.json("GET", f"/api/chat/{chat}")[1]["status"] != "finished":
        assert time.monotonic() < end
        time.sleep(0.05)


def test_page_of_another_site_is_refused_by_us(front):
    foreign = {"origin": "https://evil.example"}
    status, body = Client(front).json("POST", "/api/ticket", **foreign)
    assert (status, body["error"]["code"]) == (403, "foreign_origin")
    own = {"origin": f"https://{NAME}"}
    status, body = Client(front).json("POST", "/api/ticket", **own)
    assert status == 200, body


def upload(front, body, version, *headers):
    """Sends a body by curl, which reads a response that comes before it was sent: its code and status."""
    command = ["curl", "--silent", "--show-error", "--max-time", str(TIMEOUT)]
    command += ["--write-out", "%{http_code}", "--cacert", str(front.certificate.chain)]
    command += [word for header in headers for word in ("--header", header)]
    command += ["--data-binary", f"@{body}", version]
    command += ["--connect-to", f"{NAME}:443:127.0.0.1:{front.secure}", f"https://{NAME}/api/chat"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refusal, status = done.stdout[:-3], done.stdout[-3:]
    assert refusal, (version, done)
    return status, json.loads(refusal)["error"]["code"]


JSON = "content-type: application/json"


@pytest.mark.parametrize("mebibytes", [2, 5, 20, 40])
def test_large_body_is_refused_by_its_code(front, mebibytes, tmp_path):
    # Two are accepted as a size, and refused as a body; five and twenty by us, and forty by the proxy.
    expected = ("400", "bad_request") if mebibytes == 2 else ("413", "too_large")
    body = tmp_path / "body"
    body.write_bytes(b"[" + b" " * (mebibytes * 1024 * 1024 - 3) + b"]")
    # HAProxy 2.6 resets a stream of HTTP/2 whose request it has refused before its end.
    is_reset = front.name == "haproxy" and mebibytes == 40
    for version in ("--http1.1",) if is_reset else ("--http1.1", "--http2"):
        refused = upload(front, body, version, f"authorization: Bearer {KEY}", JSON)
        assert refused == expected, version


def test_large_body_that_is_refused_unread_gets_its_code(front, tmp_path):
    body = tmp_path / "body"
    body.write_bytes(b" " * (8 * 1024 * 1024))
    key = f"authorization: Bearer {KEY}"
    # Sent without a wait for a permission to go on, as browsers do.
    at_once = "expect:"
    refused = upload(front, body, "--http1.1", key, "content-type: text/html", at_once)
    assert refused == ("415", "unsupported_media_type")
    key = "authorization: Bearer nobody-has-this-key"
    refused = upload(front, body, "--http1.1", key, JSON, at_once)
    assert refused == ("401", "unauthorized")


def test_internal_routes_are_not_served(front):
    for path in ("/internal/command", "/internal/lineage", "/metrics"):
        response = Client(front).send("POST", path)
        assert response.status == 404
        assert b"adk-stream" not in response.read()


def test_plain_http_is_sent_to_tls(front):
    connection = http.client.HTTPConnection("127.0.0.1", front.plain, timeout=TIMEOUT)
    connection.request("GET", "/api/info", headers={"host": NAME})
    response = connection.getresponse()
    assert response.status == 308
    assert response.headers["location"].startswith(f"https://{NAME}")


def test_page_and_security_headers_pass(front):
    response = Client(front).send("GET", "/", **{"accept-encoding": "br"})
    assert response.status == 200
    assert "frame-ancestors" in response.headers["content-security-policy"]
    assert response.headers["strict-transport-security"].startswith("max-age=")


def fetched(front, path, encoding):
    """A file of the page, as it is sent to a browser that takes this encoding."""
    response = Client(front).send("GET", path, **{"accept-encoding": encoding})
    body = response.read()
    assert response.status == 200, path
    return response.headers, body


def test_files_of_the_page_arrive_compressed(front):
    _, page = fetched(front, "/", "identity")
    paths = re.findall(rb'(?:src|href)="(/assets/[^"]+\.(?:js|css))"', page)
    assert paths, "the binary has no page: make page, and build it again"
    compressed = set()
    for path in {path.decode() for path in paths}:
        headers, plain = fetched(front, path, "identity")
        assert headers["content-encoding"] is None
        # What fits into a packet anyway is sent as it is.
        if len(plain) < 2048:
            continue
        compressed.add(path.rpartition(".")[2])
        sizes = {}
        for name in ("gzip", "br"):
            headers, body = fetched(front, path, f"{name}, identity;q=0.1")
            assert headers["content-encoding"] == name, (path, dict(headers))
            assert "accept-encoding" in headers["vary"].lower()
            sizes[name] = len(body)
            if name == "gzip":
                assert gzip.decompress(body) == plain
        # What is made before is made at leisure: it is far smaller, and brotli's is the smallest.
        assert sizes["br"] < sizes["gzip"] < len(plain) / 2, (path, sizes, len(plain))
    assert compressed == {"css", "js"}


def test_server_without_keys_refuses_what_a_proxy_passes_on(tmp_path_factory, certificate):
    command = ["serve", "--listen", "127.0.0.1:0", "--agent", "demo"]
    with launched(BINARY, command, {"ADK_STREAM_LOG": "error"}) as url:
        for name in PROXIES:
            folder = tmp_path_factory.mktemp(f"{name}-keyless")
            with proxy(name, folder, certificate, url.removeprefix("http://")) as front:
                wait_for_health(front)
                # Even by a name of this machine, as somebody may ask for who knows how it is checked.
                status, refusal = Client(front, host="localhost").json("GET", "/api/info")
                assert (status, refusal["error"]["code"]) == (403, "proxied_without_keys"), name


def test_silent_stream_outlives_the_timeouts_of_all_proxies(tmp_path_factory, certificate):
    """An agent that says nothing for longer than the timeout is waited for, since comments come
    meanwhile. The timeouts are shortened to 20 seconds: what matters is that comments count."""
    with server("--pace", str(SILENCE * 1000)) as upstream, ExitStack() as started:
        fronts = []
        for name in PROXIES:
            folder = tmp_path_factory.mktemp(f"{name}-short")
            fronts.append(started.enter_context(proxy(name, folder, certificate, upstream, 20)))
        for front in fronts:
            wait_for_health(front)
        with ThreadPoolExecutor() as pool:
            for result in [pool.submit(outlive, front) for front in fronts]:
                result.result()


def outlive(front):
    chat = f"chat-{uuid.uuid4()}"
    response = Client(front).send("POST", "/api/chat", message("Hello", chat))
    assert response.status == 200
    comments, last = 0, None
    for at, line in events(response):
        if line.startswith(":"):
            comments += 1
        elif last is not None and at - last > SILENCE - 1:
            assert comments, front.name
            return
        else:
            last = at
    raise AssertionError(f"{front.name} has cut the stream off, after {comments} comments")
