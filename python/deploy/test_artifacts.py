"""The systemd unit, the image, compose.yaml and the Kubernetes manifests, by the linters of each; and
that the times in them fit the server's own."""

import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from launcher import BINARY, ROOT, launched
from proxy import DEPLOY

UNIT = DEPLOY / "systemd/adk-stream.service"
MANIFESTS = DEPLOY / "kubernetes/adk-stream.yaml"
COMPOSE = DEPLOY / "compose.yaml"
CONTAINERFILE = DEPLOY / "Containerfile"


def tool(name):
    """A program of this Python environment."""
    return str(pathlib.Path(sys.executable).with_name(name))


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def constant(name):
    """A time of the server, from its code, in seconds."""
    code = (ROOT / "crates/server/src/serve.rs").read_text()
    found = re.search(rf"const {name}: Duration = Duration::from_secs\((\d+)\);", code)
    assert found, name
    return int(found[1])


DRAIN, GRACE = constant("DRAIN"), constant("GRACE")


def documents():
    return {one["kind"]: one for one in yaml.safe_load_all(MANIFESTS.read_text())}


def test_unit_is_valid_and_hardened(tmp_path):
    # The binary is not where the unit expects it: only that line differs.
    unit = tmp_path / "adk-stream.service"
    text = UNIT.read_text()
    assert "ExecStart=/usr/local/bin/adk-stream serve" in text
    unit.write_text(text.replace("/usr/local/bin/adk-stream", str(BINARY)))
    said = run("systemd-analyze", "verify", "--man=no", str(unit))
    assert said == "", said
    # 2.0 of 10. What remains is that it uses the network.
    run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", str(unit))


def test_unit_waits_for_the_drain():
    found = re.search(r"^TimeoutStopSec=(\d+)s$", UNIT.read_text(), re.MULTILINE)
    assert found and int(found[1]) > DRAIN + GRACE


def test_sample_environment_starts_a_server():
    """Every variable is known, and with a store and a key of this test the server runs."""
    lines = (DEPLOY / "systemd/adk-stream.env").read_text().splitlines()
    given = [line for line in lines if line and not line.startswith("#")]
    variables = dict(line.split("=", 1) for line in given)
    assert variables["ADK_STREAM_STORE"].startswith("postgres://")
    variables["ADK_STREAM_STORE"] = "memory"
    variables["ADK_STREAM_LISTEN"] = "127.0.0.1:0"
    variables["ADK_STREAM_KEYS"] = variables["ADK_STREAM_KEYS"].replace("KEY", "a-key-of-this-test")
    with launched(BINARY, ["serve"], variables):
        pass


def test_image_is_linted_small_and_without_root():
    run(tool("hadolint"), str(CONTAINERFILE))
    instructions = CONTAINERFILE.read_text().splitlines()
    last = instructions[max(i for i, line in enumerate(instructions) if line.startswith("FROM")) :]
    assert "distroless" in last[0]
    assert any(line.startswith("USER 65532") for line in last)
    # There is no shell in the image: the forms that need one would never run.
    for word in ("HEALTHCHECK", "ENTRYPOINT", "CMD"):
        line = next(line for line in last if line.startswith(word))
        assert "[" in line, line


def test_image_is_built_with_a_compiler_that_is_new_enough():
    wanted = re.search(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    used = re.search(r"rust:([\d.]+)-", CONTAINERFILE.read_text())
    assert wanted and used
    numbers = [[int(part) for part in found[1].split(".")] for found in (used, wanted)]
    assert numbers[0] >= numbers[1]


def test_compose_file_fits_its_schema():
    run(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(COMPOSE))


def test_compose_file_waits_for_the_drain_and_writes_nothing():
    server = yaml.safe_load(COMPOSE.read_text())["services"]["adk-stream"]
    assert int(server["stop_grace_period"].removesuffix("s")) > DRAIN + GRACE
    assert server["read_only"] is True and server["cap_drop"] == ["ALL"]
    # Loopback only: a published port goes past the firewall of the machine.
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])


@pytest.mark.parametrize("version", ["1.30", "1.37"])
def test_manifests_fit_the_schemas_of_kubernetes(version):
    said = run(tool("kubernetes-validate"), "--strict", "-k", version, str(MANIFESTS))
    for kind in documents():
        assert kind.lower() in said, said


def test_manifests_wait_for_the_drain():
    pod = documents()["Deployment"]["spec"]["template"]["spec"]
    server = pod["containers"][0]
    drain = int(documents()["ConfigMap"]["data"]["ADK_STREAM_DRAIN"])
    pause = server["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] > pause + drain + GRACE
    # Proxies that have not noticed yet are served meanwhile; a probe has to fail first.
    assert pause > 0


def test_manifests_select_the_pods_that_they_make():
    found = documents()
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    selectors = [
        found["Deployment"]["spec"]["selector"]["matchLabels"],
        found["Service"]["spec"]["selector"],
        found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        found["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(selector.items() <= labels for selector in selectors)
    # Fewer may be away than there are.
    away = found["PodDisruptionBudget"]["spec"]["maxUnavailable"]
    assert away < found["Deployment"]["spec"]["replicas"]


def test_manifests_probe_routes_that_exist_and_set_what_is_known():
    server = documents()["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    paths = {probe: server[probe]["httpGet"]["path"] for probe in server if probe.endswith("Probe")}
    assert paths == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    variables = dict(documents()["ConfigMap"]["data"])
    variables |= documents()["Secret"]["stringData"]
    variables |= {one["name"]: one["value"] for one in server["env"] if "value" in one}
    assert variables["ADK_STREAM_STORE"].startswith("postgres://")
    variables["ADK_STREAM_STORE"] = "memory"
    variables["ADK_STREAM_LISTEN"] = "127.0.0.1:0"
    variables["ADK_STREAM_ADVERTISE"] = variables["ADK_STREAM_ADVERTISE"].replace(
        "$(POD_IP)", "127.0.0.1"
    )
    with launched(BINARY, ["serve"], variables):
        pass
