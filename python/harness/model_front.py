"""adk-stream as a process in front of a model, and chats with it."""

from front import Front, ended
from litellm_proxy import MODEL


class ModelFront(Front):
    """adk-stream before a model, with the demo's tools."""

    def __init__(self, agent, proxy, model=MODEL, **settings):
        self.agent = agent
        base_url = proxy.anthropic if agent == "anthropic" else proxy.openai
        super().__init__(
            None,
            None,
            **{
                "agent": agent,
                f"{agent}_base_url": base_url,
                f"{agent}_model": model,
                f"{agent}_key": "a-key",
                "demo_tools": "true",
                **settings,
            },
        )

    def serve(self, adk, app):
        return ["serve"]


def model_front(*arguments, **settings):
    """adk-stream before a model, ended at the end."""
    return ended(ModelFront(*arguments, **settings))
