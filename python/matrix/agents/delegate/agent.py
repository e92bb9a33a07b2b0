"""An agent that has another as a tool."""

from google.adk.agents import LlmAgent
from google.adk.tools.agent_tool import AgentTool
from toolbox import tools

clerk = LlmAgent(name="clerk", model="gemini-2.5-flash", description="pays", tools=tools())
root_agent = LlmAgent(name="root", model="gemini-2.5-flash", tools=[AgentTool(clerk)])
