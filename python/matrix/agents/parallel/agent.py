"""Two agents side by side."""

from google.adk.agents import LlmAgent, ParallelAgent
from toolbox import tools

left = LlmAgent(name="left", model="gemini-2.5-flash", tools=tools(), instruction="left")
right = LlmAgent(name="right", model="gemini-2.5-flash", tools=tools(), instruction="right")
root_agent = ParallelAgent(name="parallel", sub_agents=[left, right])
