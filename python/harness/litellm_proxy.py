"""LiteLLM's proxy as a process, whose models are the emulator's Gemini and a scripted one.

It translates OpenAI's and Anthropic's APIs into Gemini's, and nobody here wrote it.
"""

import os
import pathlib
import sys
from contextlib import contextmanager

from launcher import BYTECODE_CACHE, free_port
from web_server import web_server

# The name under which the proxy has the model, and what the emulator takes it for.
MODEL = "demo"
GEMINI = "gemini-3-flash"
# The name of the model whose chunks a test writes: Gemini has no form for most of what goes wrong there.
SCRIPTED = "scripted"

CONFIG = """\
model_list:
  - model_name: {model}
    litellm_params:
      model: gemini/{gemini}
      api_base: {url}/v1beta
      api_key: a-key
  - model_name: {scripted}
    litellm_params:
      model: hosted_vllm/{scripted}
      api_base: {scripted_url}/v1
      api_key: a-key
      # By the Responses API, too.
      use_chat_completions_api: true
litellm_settings:
  num_retries: 0
  telemetry: false
router_settings:
  num_retries: 0
  disable_cooldowns: true
"""

# It would else ask the network for prices and news.
LOCAL = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_AUTOROUTER_PRESETS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_LOCAL_POLICY_TEMPLATES": "True",
    "NO_DOCS": "True",
    "DISABLE_ADMIN_UI": "True",
    "LITELLM_LOG": "ERROR",
}


class Proxy:
    """Where the proxy is."""

    def __init__(self, url):
        self.url = url
        self.openai = f"{url}/v1"
        self.anthropic = url


def command(config, port):
    """What starts it. Its own program would be on PATH, and another's may be too."""
    program = "from litellm import run_server; run_server()"
    return [
        *(sys.executable, "-c", program),
        *("--config", str(config), "--host", "127.0.0.1", "--port", str(port)),
    ]


def environment():
    names = ("ADK_STREAM", "GEMINI", "GOOGLE", "OPENAI", "ANTHROPIC", "LITELLM", "DATABASE_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    return {**kept, **LOCAL, **BYTECODE_CACHE}


@contextmanager
def proxy(directory, emulator, scripted):
    """Starts a proxy before an emulator and a scripted model, and waits until it answers."""
    directory = pathlib.Path(directory)
    config = directory / "litellm.yaml"
    config.write_text(
        CONFIG.format(
            model=MODEL,
            gemini=GEMINI,
            url=emulator.url,
            scripted=SCRIPTED,
            scripted_url=scripted.url,
        )
    )
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    ready = f"{url}/health/liveliness"
    with web_server(command(config, port), ready, cwd=directory, env=environment()):
        yield Proxy(url)
