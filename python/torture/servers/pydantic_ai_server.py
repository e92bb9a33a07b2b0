"""pydantic-ai behind its adapter for `useChat`, with a function in the place of a model."""

import asyncio
import json
import os
import sqlite3
import uuid
from typing import Any, Final

from payments import PACE, WORDS, pay_at_ledger, payee
from pydantic_ai import Agent, DeferredToolRequests, ModelMessagesTypeAdapter, RunContext
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SDK: Final = 6


def prompt_of(message: ModelMessage) -> str | None:
    """What the person said, if that is the message."""
    if isinstance(message, ModelRequest):
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                content = part.content
                return content if isinstance(content, str) else "".join(map(str, content))
    return None


async def model(messages: list[ModelMessage], info: AgentInfo):
    prompt = prompt_of(messages[-1])
    if prompt is not None:
        yield {
            0: DeltaToolCall(
                name="pay",
                json_args=json.dumps({"to": payee(prompt)}),
                tool_call_id=f"call-{uuid.uuid4()}",
            )
        }
        return
    for word in WORDS:
        await asyncio.sleep(PACE)
        yield word


agent = Agent(FunctionModel(stream_function=model), output_type=[str, DeferredToolRequests])


@agent.tool(requires_approval=True)
async def pay(context: RunContext[object], to: str) -> dict[str, Any]:
    """Pays."""
    return await pay_at_ledger(to, str(context.tool_call_id))


store = sqlite3.connect(os.environ["CHATS"], isolation_level=None)
store.execute("PRAGMA journal_mode = WAL")
store.execute("PRAGMA synchronous = FULL")
store.execute("CREATE TABLE IF NOT EXISTS chat (id TEXT PRIMARY KEY, messages BLOB)")


def loaded(chat: str) -> list[ModelMessage]:
    row = store.execute("SELECT messages FROM chat WHERE id = ?", [chat]).fetchone()
    return ModelMessagesTypeAdapter.validate_json(row[0]) if row else []


async def post(request: Request) -> Response:
    chat = (await request.json())["id"]

    async def save(result) -> None:
        content = result.all_messages_json()
        store.execute("INSERT OR REPLACE INTO chat VALUES (?, ?)", [chat, content])

    return await VercelAIAdapter.dispatch_request(
        request,
        agent=agent,
        sdk_version=SDK,
        message_history=loaded(chat),
        manage_message_history="server",
        on_complete=save,
    )


async def get(request: Request) -> Response:
    messages = loaded(request.path_params["chat"])
    if not messages:
        return JSONResponse({"error": "no such chat"}, 404)
    shown = VercelAIAdapter.dump_messages(messages, sdk_version=SDK)
    dumped = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in shown]
    return JSONResponse({"messages": dumped})


app = Starlette(
    routes=[
        Route("/api/chat", post, methods=["POST"]),
        Route("/api/chat/{chat}", get, methods=["GET"]),
    ]
)
