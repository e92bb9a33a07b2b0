"""People who pay, each once, while the database fails: they come at a steady rate, whatever happens,
and try again until they have a response."""

import http.client
import itertools
import json
import threading
import time
from dataclasses import dataclass, field

from cluster import PATIENT
from servers import PEOPLE, key

# How long a client waits for a response before it asks another server.
REQUEST_TIMEOUT = 10
PAUSE = 0.1


@dataclass
class Payment:
    """What one client did, and what it was sent."""

    person: int
    approve: bool
    begun: float
    # What the servers acknowledged.
    approval: str | None = None
    decision: bool | None = None
    # The assistant's message when the turn was over.
    message: dict = field(default_factory=dict)
    ended: float | None = None
    problem: BaseException | None = None

    @property
    def chat(self) -> str:
        return f"chat-{self.person}"

    @property
    def call(self) -> dict:
        """The call of the payment, as the client sees it."""
        parts = self.message.get("parts", [])
        return next((part for part in parts if part["type"] == "tool-process_payment"), {})


class Client:
    """One person's client, which asks one server after the other."""

    def __init__(self, servers, person: int) -> None:
        self.servers, self.person = itertools.cycle(servers), person
        for _ in range(person % len(servers)):
            next(self.servers)

    def request(self, method: str, path: str, body=None):
        """Status and body of a response that came as a whole, or nothing."""
        host, port = next(self.servers)
        connection = http.client.HTTPConnection(host, port, timeout=REQUEST_TIMEOUT)
        headers = {"x-api-key": key(self.person), "content-type": "application/json"}
        try:
            connection.request(method, path, body and json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException):
            return None, {}
        finally:
            connection.close()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, {}

    def until(self, what: str, attempt):
        end = time.monotonic() + PATIENT
        while (found := attempt()) is None:
            assert time.monotonic() < end, f"person {self.person} never {what}"
            time.sleep(PAUSE)
        return found

    def get(self, path: str):
        """The body of a response with 200, however long that takes."""

        def attempt():
            status, body = self.request("GET", path)
            return body if status == 200 else None

        return self.until(f"reads {path}", attempt)

    def pay(self, payment: Payment) -> None:
        parts = [{"type": "text", "text": "Send $20 to Sam"}]
        message = {"id": "u1", "role": "user", "parts": parts}
        say = {"id": payment.chat, "trigger": "submit-message", "messages": [message]}

        def asked():
            status, body = self.request("GET", "/api/approvals")
            if status != 200:
                return None
            if body["approvals"]:
                return body["approvals"][0]["approvalId"]
            self.request("POST", "/api/chat", say)
            return None

        def decided():
            answer = {"approved": payment.approve}
            status, body = self.request("POST", f"/api/approvals/{payment.approval}", answer)
            if status == 200:
                return payment.approve
            # An earlier attempt was stored though its response was lost.
            return body["decision"]["approved"] if status == 409 else None

        def over():
            status, body = self.request("GET", f"/api/chat/{payment.chat}")
            is_over = status == 200 and body["status"] not in ("running", "parked")
            return body if is_over else None

        payment.approval = self.until("is asked", asked)
        payment.decision = self.until("is answered", decided)
        chat = self.until("sees the end of the turn", over)
        assert chat["status"] == "finished", chat
        payment.message = chat["messages"][1]
        payment.ended = time.monotonic()


class Payers:
    """People who come one after the other, at a steady rate."""

    def __init__(self, servers, numbers, rate: float) -> None:
        self.servers, self.numbers, self.rate = servers, numbers, rate
        self.payments: list[Payment] = []
        self.threads: list[threading.Thread] = []
        self.is_closing = threading.Event()
        self.arrivals = threading.Thread(target=self.arrive, daemon=True)

    def __enter__(self):
        self.arrivals.start()
        return self

    def __exit__(self, *_):
        self.is_closing.set()
        self.arrivals.join()

    def arrive(self) -> None:
        while not self.is_closing.wait(1 / self.rate):
            person = next(self.numbers)
            assert person < PEOPLE, "raise their number"
            # Every fourth says no.
            payment = Payment(person, person % 4 != 3, time.monotonic())
            thread = threading.Thread(target=self.pay, args=[payment], daemon=True)
            self.payments.append(payment)
            self.threads.append(thread)
            thread.start()

    def pay(self, payment: Payment) -> None:
        try:
            Client(self.servers, payment.person).pay(payment)
        except BaseException as problem:
            payment.problem = problem

    def finish(self) -> None:
        """Nobody new comes, and all who came are served."""
        self.is_closing.set()
        self.arrivals.join()
        end = time.monotonic() + 3 * PATIENT
        for thread in self.threads:
            thread.join(max(end - time.monotonic(), 0))
        problems = [payment for payment in self.payments if payment.problem or not payment.ended]
        assert not problems, problems[:3]

    def done(self, begun_after: float = 0) -> int:
        """How many are paid, or denied, of those who came after a moment."""
        return sum(1 for one in self.payments if one.ended and one.begun >= begun_after)

    def longest_gap(self, since: float, by: float) -> float:
        """The longest time between two payments that ended, in a span of time."""
        ended = sorted(one.ended for one in self.payments if one.ended)
        moments = [since, *(moment for moment in ended if since < moment < by), by]
        return max(after - before for before, after in itertools.pairwise(moments))
