"""The assistant for `adk-stream serve --agent adk`, over /run_sse."""

import os

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import ResumabilityConfig
from google.adk.tools import FunctionTool, LongRunningFunctionTool

from .tools import (
    book_flight,
    change_bgm,
    get_location,
    get_weather,
    process_payment,
    set_mood,
    write_report,
)

INSTRUCTION = "You help with payments, the weather, flights, reports and music. Be brief."

root_agent = LlmAgent(
    name="assistant",
    model=os.environ.get("ASSISTANT_MODEL", "gemini-flash-latest"),
    instruction=INSTRUCTION,
    tools=[
        FunctionTool(process_payment, require_confirmation=True),
        get_weather,
        LongRunningFunctionTool(get_location),
        LongRunningFunctionTool(change_bgm),
        book_flight,
        set_mood,
        LongRunningFunctionTool(write_report),
    ],
)

# Resumable: only then does ADK wait for all answers of a step before it calls the model again.
app = App(
    name="assistant",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
