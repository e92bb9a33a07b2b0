"""Servers that others wrote, as processes: they say nothing, so they are asked until they answer."""

import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from launcher import TIMEOUT


@contextmanager
def web_server(command, url, **more):
    """Starts a server, waits until it answers at `url`, whatever it answers, and ends it at the end."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more
    )
    said: list[str] = []
    output = process.stdout
    assert output is not None
    # A pipe that nobody reads stops the process that writes to it.
    threading.Thread(target=lambda: said.extend(output), daemon=True).start()
    try:
        wait_until_ready(url, process, said)
        yield
    finally:
        process.terminate()
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_ready(url, process, said, limit=4 * TIMEOUT):
    """Frameworks take seconds to import, and more on a machine that is busy."""
    end = time.monotonic() + limit
    while True:
        try:
            urllib.request.urlopen(url, timeout=TIMEOUT).close()
            return
        except urllib.error.HTTPError:
            # It takes no GET, but it is there.
            return
        except OSError:
            pass
        assert process.poll() is None, f"{url} ended:\n" + "".join(said)
        assert time.monotonic() < end, f"{url} does not answer:\n" + "".join(said)
        time.sleep(0.1)
