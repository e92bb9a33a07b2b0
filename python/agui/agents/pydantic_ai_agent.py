"""pydantic-ai's AG-UI adapter, with a function in the place of a model."""

import json

from payments import note
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def last_prompt(messages: list[ModelMessage]) -> str:
    """What the person said last."""
    for message in reversed(messages):
        if isinstance(message, ModelRequest):
            for part in reversed(message.parts):
                if isinstance(part, UserPromptPart):
                    return part.content if isinstance(part.content, str) else str(part.content)
    return ""


def calls(prompt: str, info: AgentInfo) -> list[tuple[str, dict[str, object]]]:
    """The calls that a prompt leads to."""
    made: list[tuple[str, dict[str, object]]] = []
    if "weather" in prompt:
        made.append(("get_weather", {"city": "Oslo"}))
    if "pay" in prompt:
        made.append(("pay", {"amount": 5}))
    if "twice" in prompt:
        made.append(("pay", {"amount": 6}))
    if "where" in prompt and any(tool.name == "locate" for tool in info.function_tools):
        made.append(("locate", {}))
    return made


async def model(messages: list[ModelMessage], info: AgentInfo):
    last = messages[-1]
    results = [part for part in last.parts if isinstance(part, ToolReturnPart)]
    prompt = last_prompt(messages)
    if results:
        said = "; ".join(f"{part.tool_name}: {part.model_response_str()}" for part in results)
        yield f"Results: {said}."
        return
    made = calls(prompt, info)
    if not made:
        yield "You said: "
        yield prompt
        return
    for place, (tool, arguments) in enumerate(made):
        yield {
            place: DeltaToolCall(
                name=tool,
                json_args=json.dumps(arguments),
                tool_call_id=f"{tool}-{len(messages)}-{place}",
            )
        }


agent = Agent(FunctionModel(stream_function=model), output_type=[str, DeferredToolRequests])


@agent.tool_plain
def get_weather(city: str) -> dict[str, str]:
    """The weather of a city."""
    return {"city": city, "condition": "Cloudy"}


@agent.tool_plain(requires_approval=True)
def pay(amount: int) -> dict[str, int]:
    """Pays something."""
    note(amount)
    return {"paid": amount}


async def run(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=agent, include_usage=True)


app = Starlette(routes=[Route("/", run, methods=["POST"])])
