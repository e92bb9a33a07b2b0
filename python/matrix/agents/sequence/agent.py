"""Two agents, one after the other."""

from google.adk.agents import LlmAgent, SequentialAgent
from toolbox import tools

first = LlmAgent(name="first", model="gemini-2.5-flash", tools=tools())
second = LlmAgent(name="second", model="gemini-2.5-flash", tools=tools())
root_agent = SequentialAgent(name="sequence", sub_agents=[first, second])
