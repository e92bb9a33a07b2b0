"""A live agent whose tools run beside the conversation."""

from google.adk.agents import LlmAgent
from toolbox import tools

root_agent = LlmAgent(name="root", model="gemini-3.8-flash-live", tools=tools(non_blocking=True))
