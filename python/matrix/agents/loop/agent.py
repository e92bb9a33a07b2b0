"""An agent that is run twice."""

from google.adk.agents import LlmAgent, LoopAgent
from toolbox import tools

worker = LlmAgent(name="worker", model="gemini-2.5-flash", tools=tools())
root_agent = LoopAgent(name="loop", sub_agents=[worker], max_iterations=2)
