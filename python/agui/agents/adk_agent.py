"""An agent of ADK's on the emulator of Gemini, behind ag-ui-adk, with a tool that asks for a confirmation."""

import os
import signal
from typing import Any

from ag_ui_adk import ADKAgent, AGUIToolset, add_adk_fastapi_endpoint
from fastapi import FastAPI
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.tools import FunctionTool, ToolContext
from payments import note


def get_weather(city: str) -> dict[str, str]:
    """The weather of a city."""
    return {"city": city, "condition": "Cloudy"}


def pay(amount: int, tool_context: ToolContext) -> dict[str, Any]:
    """Pays something."""
    answer = tool_context.tool_confirmation
    if answer is None:
        tool_context.request_confirmation(hint=f"Pay {amount}?")
        return {"status": "waiting"}
    if not answer.confirmed:
        given = answer.payload or {}
        return {"error": f"Not paid: {given.get('reason', 'no reason')}"}
    note(amount)
    return {"paid": amount}


def refund(amount: int) -> dict[str, int]:
    """Pays something back."""
    return {"refunded": amount}


def die() -> None:
    """Ends the agent's process."""
    os.kill(os.getpid(), signal.SIGKILL)


# Where an app is not resumable, ag-ui-adk does not wait for what the tool that asks returns, and ADK then
# takes no answer, unless the tool is declared with require_confirmation.
resumable = ResumabilityConfig(is_resumable=True)
app = FastAPI()
# Both ways in which the package tells of a confirmation: the default, a call that waits, and the
# protocol's outcome.
for path, emits in (("/", True), ("/default", False)):
    declared = FunctionTool(refund, require_confirmation=True)
    tools = [get_weather, pay, declared, die, AGUIToolset()]
    payer = LlmAgent(name="payer", model="gemini-2.5-flash", tools=tools)
    payers = App(name="payer", root_agent=payer, resumability_config=resumable)
    served = ADKAgent.from_app(payers, emit_interrupt_outcome=emits)
    add_adk_fastapi_endpoint(app, served, path)
