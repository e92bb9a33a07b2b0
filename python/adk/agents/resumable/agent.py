"""An app that waits for all answers before it continues."""

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import ResumabilityConfig
from toolbox import tools

root_agent = LlmAgent(name="root", model="gemini-2.5-flash", tools=tools())
app = App(
    name="resumable",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
