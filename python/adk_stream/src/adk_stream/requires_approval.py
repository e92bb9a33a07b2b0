"""A decorator for tools."""

from __future__ import annotations

import builtins
import functools
import inspect
import logging
import re
import typing
from collections.abc import Awaitable, Callable
from typing import Any

from .errors import AskError, NotConnected, Refused
from .gate import approve

Tool = Callable[..., Any]

# The name by which ADK gives a tool its context, and leaves it out of what the model is told.
CONTEXT = "tool_context"

logger = logging.getLogger(__name__)


def requires_approval(
    question: str | Callable[..., str] | None = None, timeout: float | None = None
) -> Callable[[Tool], Callable[..., Awaitable[Any]]]:
    """Has a person say yes before the tool runs.

    `question` is a text, in which `{amount}` stands for the argument of that name, or a function of
    the arguments. `timeout` is in seconds.

    The tool may be `async` or not, and need not have a `tool_context`. Where nobody says yes, it
    does not run, and the model is told why; the same where the tool asks by itself and is refused.
    """

    def decorate(tool: Tool) -> Callable[..., Awaitable[Any]]:
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
                # The model repeats what it is told, and addresses are nobody's business there.
                return {"error": "adk-stream could not be asked"}
            except AskError as error:
                # An exception would end ADK's run, and the model would never hear of it.
                return {"error": str(error)}

        approved.__signature__ = extended  # type: ignore[attr-defined]
        # Older ADKs copy the function into this module, where the names of the tool's mean nothing.
        approved.__annotations__ = _annotations(extended)
        return approved

    return decorate


def _text(question: str | Callable[..., str] | None, tool: Tool, named: dict[str, Any]) -> str:
    if question is None:
        return f"Run {tool.__name__}?"
    if callable(question):
        return question(**named)
    return question.format_map(named)


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
    # Nothing may stand behind **kwargs.
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        place -= 1
    parameters.insert(place, inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY))
    return signature.replace(parameters=parameters)
