"""What a type checker knows of a tool behind an approval. mypy reads this file; nothing runs it."""

from typing import assert_type

from adk_stream import requires_approval
from adk_stream.tool_context import ToolContext

Answer = dict[str, str]


@requires_approval("Send {amount} to {recipient}?", timeout=30)
def pay(amount: float, recipient: str, currency: str = "USD") -> int:
    return round(amount)


@requires_approval()
async def book(destination: str, tool_context: ToolContext) -> list[str]:
    return [destination]


async def cases(context: ToolContext) -> None:
    # The result of either is awaited, and may be why it did not run.
    assert_type(await pay(20, recipient="Sam"), int | Answer)
    assert_type(await book("Oslo", context), list[str] | Answer)
    # A mistake in the arguments is found: the comments are errors where they are not needed.
    await pay("20", "Sam")  # type: ignore[arg-type]
    await pay(20)  # type: ignore[call-arg]
    await pay(20, "Sam", place="Oslo")  # type: ignore[call-arg]
    await book(7, context)  # type: ignore[arg-type]
