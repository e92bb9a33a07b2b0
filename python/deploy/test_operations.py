"""Executes what docs/operations.md says about PostgreSQL, and serves over what it makes."""

import json
import re
import subprocess
import urllib.request
from urllib.parse import urlsplit

from launcher import BINARY, ROOT, TIMEOUT, launched
from postgres import postgres, program

MARK = "<!-- read by python/deploy/test_operations.py -->"
KEY = "a-key-of-this-test"


def blocks():
    """The SQL that makes a database, and the variables of several servers."""
    text = (ROOT / "docs/operations.md").read_text()
    found = re.findall(re.escape(MARK) + r"\n```\w+\n(.*?)```", text, re.DOTALL)
    sql, variables = found
    return sql, variables


def ask(url, body=None):
    """What a server answers, as to alice."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        return response.read()


def test_servers_share_the_database_that_the_document_makes():
    sql, variables = blocks()
    with postgres() as administrator:
        psql = [program("psql"), "--set=ON_ERROR_STOP=1", administrator]
        subprocess.run(psql, input=sql.replace("…", "pass-word"), text=True, check=True)
        port = urlsplit(administrator).port
        # In the order of the document: the store, the key of the servers, and the people. Where others
        # reach it is where it listens.
        values = [
            f"postgres://adk_stream:pass-word@127.0.0.1:{port}/chats",
            "k" * 16,
            "",
            f"alice={KEY}",
        ]
        names = [line.partition("=")[0] for line in variables.strip().split("\n")]
        settings = {name: value for name, value in zip(names, values, strict=True) if value}
        command = ["serve", "--listen", "127.0.0.1:0"]
        with (
            launched(BINARY, command, settings) as first,
            launched(BINARY, command, settings) as second,
        ):
            parts = [{"type": "text", "text": "Send $20 to Sam"}]
            message = {"id": "m", "role": "user", "parts": parts}
            ask(f"{first}/api/chat", {"id": "chat", "messages": [message]})
            # The other server has the question, and takes the answer.
            (approval,) = json.loads(ask(f"{second}/api/approvals"))["approvals"]
            path = f"/api/approvals/{approval['approvalId']}"
            assert json.loads(ask(second + path, {"approved": True}))["approved"] is True
