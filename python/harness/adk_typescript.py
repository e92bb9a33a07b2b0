"""`adk api_server` of ADK for TypeScript as a process."""

import shutil
import subprocess
from contextlib import contextmanager

from adk import START, Adk
from launcher import ROOT

PROJECT = ROOT / "examples/adk-typescript"


def install():
    """Has npm install what the lock file says, if it has not."""
    subprocess.run(
        ["make", PROJECT.relative_to(ROOT) / "node_modules/.stamp"], cwd=ROOT, check=True
    )


class AdkTypescript(Adk):
    """An ADK server on Node."""

    LISTENING = r"access at (http://[^\s.]+(?:\.\d+)*:\d+)"

    def __init__(self, agents, directory, emulator, **more):
        install()
        # Agents find what they import beside themselves.
        folder = directory / "agents"
        if not folder.exists():
            shutil.copytree(agents, folder)
            (directory / "node_modules").symlink_to(PROJECT / "node_modules")
        more.setdefault("sessions", f"sqlite://{directory}/sessions.db")
        settings = {"GOOGLE_GEMINI_BASE_URL": emulator.url, "NODE_NO_WARNINGS": "1"}
        super().__init__(folder, directory, emulator, **{**settings, **more})

    is_warm = False

    def ready(self):
        super().ready()
        # It builds its agents when it is first asked, which takes its time.
        if not self.is_warm:
            assert self.client.get(f"{self.url}/list-apps", timeout=START).status_code == 200
            self.is_warm = True
        return self

    def begin(self, port=0):
        self.is_warm = False
        super().begin(port)

    def command(self, port):
        program = PROJECT / "node_modules/@google/adk-devtools/dist/esm/cli_entrypoint.js"
        command = ["node", program, "api_server", "--host", "127.0.0.1", "--port", str(port)]
        return [*command, "--session_service_uri", self.sessions, self.agents]


@contextmanager
def adk_typescript(*arguments, **more):
    """An ADK server on Node that is ended at the end."""
    server = AdkTypescript(*arguments, **more)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()
        server.client.close()
