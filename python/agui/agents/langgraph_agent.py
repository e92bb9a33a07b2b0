"""A graph of LangGraph's, with a scripted chat model, a tool that interrupts, and ag-ui-langgraph."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt
from payments import note


class Scripted(BaseChatModel):
    """A model that calls what the last words of the person name."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **more: Any) -> ChatResult:
        chunks = [chunk.message for chunk in self._stream(messages)]
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole = whole + chunk
        return ChatResult(generations=[ChatGeneration(message=whole)])

    def _stream(
        self, messages: list[BaseMessage], *_: Any, **more: Any
    ) -> Iterator[ChatGenerationChunk]:
        last = messages[-1]
        prompts = [message for message in messages if isinstance(message, HumanMessage)]
        prompt = str(prompts[-1].content)
        if isinstance(last, ToolMessage):
            yield said("Result: ")
            yield said(str(last.content))
        elif "weather" in prompt:
            yield from called("get_weather", {"city": "Oslo"}, len(messages))
        elif "pay" in prompt:
            yield from called("pay", {"amount": 5}, len(messages))
        elif "book" in prompt:
            yield from called("book", {"place": "Maru"}, len(messages))
        elif "where" in prompt:
            yield from called("locate", {}, len(messages))
        else:
            yield said("You said: ")
            yield said(prompt)


def said(text: str) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content=text))


def called(name: str, arguments: dict[str, Any], number: int) -> Iterator[ChatGenerationChunk]:
    """A call as models stream it: its name, and then its arguments."""
    for piece in (
        {"name": name, "args": "", "id": f"{name}-{number}"},
        {"name": None, "args": json.dumps(arguments), "id": None},
    ):
        chunk = tool_call_chunk(**piece, index=0)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return json.dumps({"city": city, "condition": "Cloudy"})


@tool
def pay(amount: int) -> str:
    """Pays something."""
    answer = interrupt({"message": f"Pay {amount}?"})
    if not answer.get("approved"):
        return f"Not paid: {answer.get('reason', 'no reason')}"
    note(amount)
    return json.dumps({"paid": amount})


@tool
def book(place: str) -> str:
    """Books a table."""
    expires = datetime.now(UTC) + timedelta(hours=1)
    answer = interrupt(
        {
            "message": f"For how many at {place}?",
            "responseSchema": {
                "type": "object",
                "properties": {"people": {"type": "integer", "minimum": 1, "maximum": 12}},
                "required": ["people"],
            },
            "expiresAt": expires.isoformat(),
        }
    )
    return json.dumps({"booked": place, "answer": answer})


class State(MessagesState):
    tools: list[Any]


OWN = [get_weather, pay, book]


def ask(state: State) -> dict[str, Any]:
    return {"messages": [Scripted().invoke(state["messages"])]}


def follows(state: State) -> str:
    calls = getattr(state["messages"][-1], "tool_calls", [])
    own = {tool.name for tool in OWN}
    return "tools" if any(call["name"] in own for call in calls) else END


graph = StateGraph(State)
graph.add_node("ask", ask)
graph.add_node("tools", ToolNode(OWN))
graph.add_edge(START, "ask")
graph.add_conditional_edges("ask", follows, ["tools", END])
graph.add_edge("tools", "ask")

app = FastAPI()
# Both ways in which the package tells of an interrupt: the default, an event of its own, and the
# protocol's outcome.
for path, emits in (("/", True), ("/default", False)):
    add_langgraph_fastapi_endpoint(
        app,
        LangGraphAgent(
            name="payer",
            graph=graph.compile(checkpointer=InMemorySaver()),
            emit_interrupt_outcome=emits,
        ),
        path,
    )
