"""Starts the emulator, and gives tests Google's clients for it.

The emulator is the debug binary beside `adk-stream`, on a port of its own; ADK_STREAM_BINARY names
another `adk-stream`.
"""

import os

import pytest
from google import genai
from google.genai import types

import emulator as harness
from launcher import TIMEOUT as TIMEOUT


@pytest.fixture(scope="session")
def started(tmp_path_factory):
    with harness.emulator(tmp_path_factory.mktemp("emulator")) as started:
        os.environ["SSL_CERT_FILE"] = str(started.certificate)
        yield started


@pytest.fixture
def emulator(started):
    started.begin()
    return started


def client_of(url, key="a key", **options):
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=url, **options))


@pytest.fixture
def client(emulator):
    """Google's client, over plain HTTP."""
    return client_of(emulator.url)


@pytest.fixture
def live(emulator):
    """Google's client over TLS, as it insists on for Live."""
    # A client that is dropped closes its connection.
    client = client_of(emulator.secure_url)
    yield client.aio.live  # noqa: PT022
