"""Tools behind an approval."""

import inspect
import logging
import types
import typing
from decimal import Decimal

import pytest

from adk_stream import approve, on_page, requires_approval
from conftest import Context

NO = {"decision": "denied", "reason": "too much"}


def payments(**options):
    """A tool in all its shapes, and what it did."""
    paid = []

    @requires_approval("Send {amount} {currency} to {recipient}?", **options)
    async def later(amount: float, recipient: str, tool_context: Context, currency: str = "USD"):
        """Pays."""
        paid.append((amount, recipient, currency))
        return {"success": True}

    @requires_approval("Send {amount} {currency} to {recipient}?", **options)
    def at_once(amount: float, recipient: str, tool_context: Context, currency: str = "USD"):
        """Pays."""
        paid.append((amount, recipient, currency))
        return {"success": True}

    @requires_approval("Send {amount} {currency} to {recipient}?", **options)
    def unaware(amount: float, recipient: str, currency: str = "USD"):
        """Pays."""
        paid.append((amount, recipient, currency))
        return {"success": True}

    return paid, {"async": later, "sync": at_once, "without a context": unaware}


@pytest.fixture(params=["async", "sync", "without a context"])
def payment(request):
    paid, tools = payments(timeout=5)
    return paid, tools[request.param]


async def test_an_approved_tool_runs_once(fake, context, payment):
    paid, pay = payment
    assert await pay(amount=20, recipient="Sam", tool_context=context) == {"success": True}
    assert paid == [(20, "Sam", "USD")]
    (ask,) = fake.asked
    assert ask.body["ask"] == {"approval": {"question": "Send 20 USD to Sam?"}}
    assert ask.body["timeoutMs"] == 5000


@pytest.mark.parametrize(
    ("decision", "error"),
    [
        (NO, "Denied: too much"),
        ({"decision": "timed-out"}, "Approval request timed out"),
        ({"decision": "cancelled", "reason": "stopped"}, "Cancelled: stopped"),
    ],
)
async def test_without_an_approval_it_does_not_run_and_the_model_gets_the_reason(
    fake, context, payment, decision, error
):
    paid, pay = payment
    fake.says(decision)
    assert await pay(amount=20, recipient="Sam", tool_context=context) == {"error": error}
    assert paid == []


async def test_the_model_gets_no_address_of_a_server_that_could_not_be_asked(
    fake, context, payment, caplog
):
    paid, pay = payment
    fake.says((401, {"error": {"message": "no such key"}}))
    with caplog.at_level(logging.ERROR):
        error = await pay(amount=20, recipient="Sam", tool_context=context)
    assert error == {"error": "adk-stream could not be asked"}
    assert "no such key" in caplog.text
    assert paid == []


async def test_the_tool_looks_as_it_did_but_for_the_context(payment):
    _, pay = payment
    assert inspect.iscoroutinefunction(pay)
    assert pay.__doc__ == "Pays."
    parameters = inspect.signature(pay).parameters
    assert set(parameters) == {"amount", "recipient", "currency", "tool_context"}
    assert parameters["currency"].default == "USD"


# ADK gives tools their context, which their types do not name: call-arg is ignored for that below.
async def test_a_question_may_be_a_function_of_the_arguments(fake, context):
    @requires_approval(lambda amount, **_: f"{amount:.2f}?")
    def pay(amount: float, recipient: str):
        return amount

    assert await pay(amount=1, recipient="Sam", tool_context=context) == 1  # type: ignore[call-arg]
    assert fake.asked[0].body["ask"]["approval"]["question"] == "1.00?"


async def test_without_a_question_the_tool_is_named(fake, context):
    @requires_approval()
    def pay():
        return "paid"

    assert await pay(tool_context=context) == "paid"  # type: ignore[call-arg]
    assert fake.asked[0].body["ask"]["approval"]["question"] == "Run pay?"


async def test_without_a_question_the_arguments_are_part_of_it(fake, context):
    @requires_approval()
    def pay(recipient: str, amount: Decimal = Decimal(20)):
        return "paid"

    await pay(recipient="Zoë", tool_context=context)  # type: ignore[call-arg]
    await pay(recipient="Z" * 1000, tool_context=context)  # type: ignore[call-arg]
    first, second = (ask.body["ask"]["approval"]["question"] for ask in fake.asked)
    assert first == 'Run pay with {"recipient":"Zoë","amount":"20"}?'
    assert second.endswith("ZZZ…?")
    assert len(second) < 350


async def test_the_context_is_known_by_its_type_too(fake, context):
    @requires_approval("Sure?")
    def pay(ctx: Context):
        return ctx.function_call_id

    assert await pay(ctx=context) == "call-1"
    assert "tool_context" not in inspect.signature(pay).parameters


async def test_other_arguments_are_passed_on(fake, context):
    @requires_approval("Sure?")
    def pay(*amounts, **more):
        return amounts, more

    assert await pay(1, 2, tag="x", tool_context=context) == ((1, 2), {"tag": "x"})


async def test_a_tool_may_ask_more_by_itself(fake, context):
    @requires_approval("Book?")
    async def book(tool_context: Context):
        await approve(tool_context, "Pay?")
        return await on_page(tool_context, "change_bgm", {"track": 1})

    fake.says(
        {"decision": "approved"}, {"decision": "approved"}, {"decision": "output", "output": 1}
    )
    assert await book(tool_context=context) == 1
    assert [ask.body["nth"] for ask in fake.asked] == [0, 1, 2]

    fake.says({"decision": "approved"}, NO)
    assert await book(tool_context=Context()) == {"error": "Denied: too much"}


async def test_other_exceptions_of_a_tool_are_its_own(fake, context):
    @requires_approval("Sure?")
    def pay(tool_context: Context):
        raise ValueError("no wallet")

    with pytest.raises(ValueError, match="no wallet"):
        await pay(tool_context=context)


async def test_a_tool_without_its_context_does_not_run(fake):
    @requires_approval("Sure?")
    def pay(tool_context: Context | None = None):
        raise AssertionError("it ran")

    with pytest.raises(TypeError, match="pay was called without a tool_context"):
        await pay()
    assert fake.asked == []


def test_generators_are_refused():
    async def stream():
        yield 1

    with pytest.raises(TypeError, match="stream is a generator"):
        requires_approval("Sure?")(stream)


LATE = """
from __future__ import annotations

from decimal import Decimal as Money

from adk_stream import requires_approval
from conftest import Context as ToolContext


@requires_approval()
def pay(amount: Money, tool_context: ToolContext) -> dict[str, str]:
    return {}
"""


def test_older_adks_understand_a_copy_of_a_tool_whose_types_are_names():
    module: dict[str, typing.Any] = {"__name__": "late"}
    exec(LATE, module)
    pay = module["pay"]
    # As ADK 1.x makes it.
    copy = types.FunctionType(pay.__code__, pay.__globals__, pay.__name__, None, pay.__closure__)
    copy.__annotations__ = pay.__annotations__
    found = typing.get_type_hints(copy)
    assert found == {"amount": Decimal, "tool_context": Context, "return": dict[str, str]}
    assert inspect.signature(pay).parameters["amount"].annotation is Decimal


HIDDEN = """
from __future__ import annotations

from typing import TYPE_CHECKING

from adk_stream import requires_approval

if TYPE_CHECKING:
    from nowhere import ToolContext


@requires_approval()
def pay(amount: float, tool_context: ToolContext) -> None:
    pass
"""


def test_a_context_that_only_type_checkers_know_is_known_by_its_name():
    module: dict[str, typing.Any] = {"__name__": "hidden"}
    exec(HIDDEN, module)
    pay = module["pay"]
    assert pay.__annotations__ == {"amount": float}
    assert list(inspect.signature(pay).parameters) == ["amount", "tool_context"]
