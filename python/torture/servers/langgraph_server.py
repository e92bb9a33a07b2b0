"""A graph of LangGraph's with a tool that interrupts, its checkpointer on PostgreSQL, and routes like those
of LangGraph's own server: a run continues when its client leaves."""

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from payments import PACE, WORDS, pay_at_ledger, payee
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

DENIED = "denied"


class Scripted(BaseChatModel):
    """A model that calls the tool for a message, and speaks slowly when it has a result."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **more: Any) -> ChatResult:
        raise NotImplementedError("it is only streamed")

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **more: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        last = messages[-1]
        if isinstance(last, HumanMessage):
            arguments = json.dumps({"to": payee(str(last.content))})
            call = tool_call_chunk(name="pay", args=arguments, id=f"call-{uuid.uuid4()}", index=0)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
            return
        for word in WORDS:
            await asyncio.sleep(PACE)
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))


@tool
async def pay(to: str, call: Annotated[str, InjectedToolCallId]) -> str:
    """Pays."""
    if not interrupt({"question": f"Pay {to}?"}):
        return DENIED
    return json.dumps(await pay_at_ledger(to, call))


async def ask(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await Scripted().ainvoke(state["messages"])]}


def follows(state: MessagesState) -> str:
    return "tools" if getattr(state["messages"][-1], "tool_calls", []) else END


builder = StateGraph(MessagesState)
builder.add_node("ask", ask)
builder.add_node("tools", ToolNode([pay]))
builder.add_edge(START, "ask")
builder.add_conditional_edges("ask", follows, ["tools", END])
builder.add_edge("tools", "ask")


@asynccontextmanager
async def lifespan(app: FastAPI):
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        os.environ["DATABASE"], max_size=20, kwargs=options, open=False
    )
    async with pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        app.state.graph = builder.compile(checkpointer=saver)
        yield


app = FastAPI(lifespan=lifespan)
# A task that nobody refers to may be collected before its end.
running: set[asyncio.Task[None]] = set()


def config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


def event(mode: str, content: Any) -> dict[str, Any]:
    """What a client is sent for a piece of the graph's stream."""
    if mode == "messages":
        message, _ = content
        return {"text": message.text} if isinstance(message, AIMessageChunk) else {}
    messages = (content.get("tools") or {}).get("messages", [])
    results = [message for message in messages if isinstance(message, ToolMessage)]
    return {"tool": results[-1].content, "status": results[-1].status} if results else {}


@app.post("/threads/{thread}/runs/stream")
async def run(thread: str, body: dict[str, Any]) -> StreamingResponse:
    command = body.get("command")
    given = Command(resume=command["resume"]) if command else body.get("input")
    events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def work() -> None:
        try:
            stream = app.state.graph.astream(
                given, config(thread), stream_mode=["updates", "messages"], durability="sync"
            )
            async for mode, content in stream:
                await events.put(event(mode, content))
        except Exception as problem:
            await events.put({"error": repr(problem)})
        finally:
            await events.put(None)

    task = asyncio.create_task(work())
    running.add(task)
    task.add_done_callback(running.discard)

    async def lines() -> AsyncIterator[str]:
        while (found := await events.get()) is not None:
            if found:
                yield f"data: {json.dumps(found)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


@app.get("/threads/{thread}/state")
async def state(thread: str) -> dict[str, Any]:
    snapshot = await app.state.graph.aget_state(config(thread))
    messages = snapshot.values.get("messages", [])
    return {
        "messages": [
            {"type": one.type, "text": one.text, "status": getattr(one, "status", None)}
            for one in messages
        ],
        "next": list(snapshot.next),
        "interrupts": [one.id for one in snapshot.interrupts],
    }
