"""The same on a model before Gemini 3."""

from google.adk.agents import LlmAgent
from toolbox import tools

root_agent = LlmAgent(name="root", model="gemini-live-2.5-flash-preview", tools=tools())
