"""An agent as most are, with another to hand over to."""

from google.adk.agents import LlmAgent
from toolbox import tools

helper = LlmAgent(name="helper", model="gemini-2.5-flash", description="helps", tools=tools())
root_agent = LlmAgent(name="root", model="gemini-2.5-flash", tools=tools(), sub_agents=[helper])
