"""A decorator for tools."""

from __future__ import annotations

import builtins
import functools
import inspect
import json
import logging
import re
import typing
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from .errors import AskError, NotConnected, Refused
from .gate import approve

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Tool = Callable[..., Any]

# What the model gets where the tool did not run: `{"error": "Denied: too much"}`.
NotRun = dict[str, str]

# How much of the arguments a question repeats, in characters. The approval shows the rest.
QUESTION_INPUT = 300

# The name by which ADK gives a tool its context, and leaves it out of the declaration.
CONTEXT = "tool_context"

logger = logging.getLogger(__name__)


class Decorator(Protocol):
    """Keeps the parameters of a tool; its result is awaited, and may be that it did not run."""

    @overload
    def __call__(
        self, tool: Callable[Parameters, Awaitable[Result]], /
    ) -> Callable[Parameters, Coroutine[Any, Any, Result | NotRun]]: ...

    @overload
    def __call__(
        self, tool: Callable[Parameters, Result], /
    ) -> Callable[Parameters, Coroutine[Any, Any, Result | NotRun]]: ...


def requires_approval(
    question: str | Callable[..., str] | None = None, timeout: float | None = None
) -> Decorator:
    """Has a person say yes before the tool runs.

    `question` is a text, in which `{amount}` is replaced by the argument of that name, or a function of
    the arguments; without one, the tool and its arguments are named. `timeout` is in seconds.

    The tool may be `async` or not, and need not have a `tool_context`. Where nobody says yes, it
    does not run, and the model gets the reason; the same where the tool asks by itself and is refused.
    """

    def decorate(tool: Tool) -> Callable[..., Coroutine[Any, Any, Any]]:
        if inspect.isasyncgenfunction(tool) or inspect.isgeneratorfunction(tool):
            raise TypeError(f"{tool.__name__} is a generator: ask with approve() inside of it")
        signature = _resolved(tool)
        own = _context_of(signature)
        extended = signature if own else _with_context(signature)
        name = own or CONTEXT

        @functools.wraps(tool)
        async def approved(*args: Any, **kwargs: Any) -> Any:
            bound = extended.bind(*args, **kwargs)
            bound.apply_defaults()
            context = bound.arguments[name]
            if context is None:
                raise TypeError(f"{tool.__name__} was called without a {name}")
            named = {key: value for key, value in bound.arguments.items() if key != name}
            if not own:
                del bound.arguments[name]
            try:
                await approve(context, _text(question, tool, named), timeout)
                result = tool(*bound.args, **bound.kwargs)
                return await result if inspect.isawaitable(result) else result
            except (NotConnected, Refused) as error:
                logger.error("%s could not ask: %s", tool.__name__, error)
                # The model repeats what it gets, and addresses do not belong there.
                return {"error": "adk-stream could not be asked"}
            except AskError as error:
                # An exception would end ADK's run, and the model would never get it.
                return {"error": str(error)}

        approved.__signature__ = extended  # type: ignore[attr-defined]
        # Older ADKs copy the function into this module, where the names of the tool's mean nothing.
        approved.__annotations__ = _annotations(extended)
        return approved

    return decorate


def _text(question: str | Callable[..., str] | None, tool: Tool, named: dict[str, Any]) -> str:
    if question is None:
        return _call(tool, named)
    if callable(question):
        return question(**named)
    return question.format_map(named)


def _call(tool: Tool, named: dict[str, Any]) -> str:
    """The question of a tool that has none of its own, as adk-stream asks for ADK's confirmations."""
    if not named:
        return f"Run {tool.__name__}?"
    text = json.dumps(named, default=str, ensure_ascii=False, separators=(",", ":"))
    shown = text if len(text) <= QUESTION_INPUT else text[:QUESTION_INPUT] + "…"
    return f"Run {tool.__name__} with {shown}?"


def _resolved(tool: Tool) -> inspect.Signature:
    """The signature of a tool, with types where its module has only their names."""
    signature = inspect.signature(tool)
    try:
        types = typing.get_type_hints(tool, include_extras=True)
    except (NameError, TypeError, AttributeError):
        # Something is imported for type checkers alone.
        types = {}
    parameters = [
        parameter.replace(annotation=_type_of(parameter, types))
        for parameter in signature.parameters.values()
    ]
    returned = types.get("return", signature.return_annotation)
    if isinstance(returned, str):
        returned = inspect.Signature.empty
    return signature.replace(parameters=parameters, return_annotation=returned)


def _type_of(parameter: inspect.Parameter, types: dict[str, Any]) -> Any:
    written = parameter.annotation
    if parameter.name in types:
        return types[parameter.name]
    if not isinstance(written, str):
        return written
    try:
        return vars(builtins)[written]
    except KeyError:
        # ADK goes by the name then; any other parameter it has to make out by itself.
        return inspect.Parameter.empty if parameter.name == CONTEXT else written


def _annotations(signature: inspect.Signature) -> dict[str, Any]:
    """What the signature says, as a function says it."""
    empty = inspect.Signature.empty
    found = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    found["return"] = signature.return_annotation
    return {name: written for name, written in found.items() if written is not empty}


def _context_of(signature: inspect.Signature) -> str | None:
    """The parameter that ADK gives the context to: it goes by the type, and then by the name."""
    for parameter in signature.parameters.values():
        annotation = parameter.annotation
        written = getattr(annotation, "__name__", None) or str(annotation)
        if re.search(r"\b(Tool)?Context\b", written):
            return parameter.name
    return CONTEXT if CONTEXT in signature.parameters else None


def _with_context(signature: inspect.Signature) -> inspect.Signature:
    """The same with a context, so that ADK gives one."""
    parameters = list(signature.parameters.values())
    place = len(parameters)
    # Nothing may be behind **kwargs.
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        place -= 1
    parameters.insert(place, inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY))
    return signature.replace(parameters=parameters)
