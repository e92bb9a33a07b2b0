"""What became of every payment: journal, ledger and what clients were sent must agree."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from payers import Client, Payment


def judge(servers, cluster, payments: list[Payment]) -> Counter:
    """Counts outcomes, and fails if something acknowledged is lost, or anything happened twice."""
    with ThreadPoolExecutor(8) as pool:
        outcomes = Counter(pool.map(lambda payment: outcome(servers, payment), payments))
    # The same by the tables themselves, which no server stands before.
    paid = cluster.sql("SELECT count(*), count(DISTINCT call) FROM adk_stream.payment WHERE paid")
    total, calls = paid.split("|")
    assert total == calls, f"{total} payments for {calls} calls"
    stuck = cluster.sql("SELECT id FROM adk_stream.chat WHERE turn IS NOT NULL")
    assert stuck == "", f"turns that did not end: {stuck}"
    return outcomes


def outcome(servers, payment: Payment) -> str:
    client = Client(servers, payment.person)
    chat = client.get(f"/api/chat/{payment.chat}")
    context = f"{payment}: {chat}"
    assert chat["status"] == "finished", context
    assert chat["messages"][1] == payment.message, f"what was shown has changed: {context}"

    journal = client.get(f"/api/chat/{payment.chat}/journal")["entries"]
    events = [event for entry in journal for event in entry["events"]]
    counts = Counter(event["event"] for event in events)
    for once in ("turn-opened", "gate-opened", "gate-closed", "turn-ended"):
        assert counts[once] == 1, f"{once} {counts[once]} times: {context}"
    opened = next(event for event in events if event["event"] == "gate-opened")
    assert opened["gate"]["id"] == payment.approval, f"another question: {opened} {context}"
    closed = next(event for event in events if event["event"] == "gate-closed")
    assert payment.decision == payment.approve, context
    assert closed["decision"] == ("approved" if payment.approve else "denied"), (
        f"{closed} {context}"
    )
    assert counts["call-started"] == int(payment.approve), context

    made = client.get("/api/wallet")["payments"]
    assert all(one["toolCallId"] == payment.call["toolCallId"] for one in made), f"{made} {context}"
    match payment.call["state"]:
        case "output-available":
            assert payment.approve and len(made) == 1, f"paid {len(made)} times: {context}"
            assert payment.call["output"]["success"] is True, context
            assert payment.call["output"]["transaction_id"] == made[0]["transactionId"], context
            return "paid"
        case "output-denied":
            assert not payment.approve and not made, f"paid {len(made)} times: {context}"
            return "denied"
        case "output-error" if payment.call["errorText"].startswith("The outcome is unknown:"):
            assert payment.approve and len(made) <= 1, f"paid {len(made)} times: {context}"
            return "unknown"
        case state:
            raise AssertionError(f"{state}: {context}")
