"""A live agent that waits for its tools."""

from google.adk.agents import LlmAgent
from toolbox import tools

root_agent = LlmAgent(name="root", model="gemini-3.1-flash-live", tools=tools())
