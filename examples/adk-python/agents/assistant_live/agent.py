"""The assistant for `adk-stream serve --agent adk-live`, over /run_live."""

import os

from assistant.agent import INSTRUCTION
from assistant.tools import (
    book_flight,
    change_bgm_live,
    get_location_live,
    get_weather,
    process_payment,
    set_mood,
)
from google.adk.agents import LlmAgent
from google.adk.tools import FunctionTool
from google.genai import types

from adk_stream import requires_approval

ask = requires_approval("Send {amount} {currency} to {recipient}?")

tools = [
    FunctionTool(ask(process_payment)),
    FunctionTool(get_weather),
    FunctionTool(get_location_live),
    FunctionTool(change_bgm_live),
    FunctionTool(book_flight),
    FunctionTool(set_mood),
]
# Otherwise ADK stands still while a tool waits for somebody.
for tool in tools:
    tool.behavior = types.Behavior.NON_BLOCKING

root_agent = LlmAgent(
    name="assistant_live",
    model=os.environ.get("ASSISTANT_LIVE_MODEL", "gemini-3.8-flash-live"),
    instruction=INSTRUCTION,
    tools=[*tools],
)
