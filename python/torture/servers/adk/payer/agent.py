"""An app of ADK's that can be resumed, with a tool that needs a confirmation."""

import os
from typing import Any

import httpx
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import ResumabilityConfig
from google.adk.tools import FunctionTool, ToolContext


async def pay(to: str, tool_context: ToolContext) -> dict[str, Any]:
    """Pays: every request is an execution."""
    payment = {"to": to, "call": tool_context.function_call_id}
    async with httpx.AsyncClient(timeout=60) as client:
        response = await client.post(os.environ["LEDGER"], json=payment)
        response.raise_for_status()
        return response.json()


root_agent = LlmAgent(
    name="root",
    model="gemini-2.5-flash",
    tools=[FunctionTool(pay, require_confirmation=True)],
)
app = App(
    name="payer",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
