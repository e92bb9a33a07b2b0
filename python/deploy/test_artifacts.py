"""The systemd unit, the image, compose.yaml and the Kubernetes manifests, by the linters of each; and
that the times in them fit the server's own."""

import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import yaml

from launcher import BINARY, ROOT, launched
from proxy import DEPLOY

UNIT = DEPLOY / "systemd/adk-stream.service"
MANIFESTS = DEPLOY / "kubernetes/adk-stream.yaml"
COMPOSE = DEPLOY / "compose.yaml"
CONTAINERFILE = DEPLOY / "Containerfile"

# The keys of the manifests.
KEYS = ("ADK_STREAM_CLUSTER_KEY", "ADK_STREAM_KEYS", "ADK_STREAM_METRICS_KEY")


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
    variables = manifest_variables()
    with launched(BINARY, ["serve"], variables):
        pass


def manifest_variables():
    """The environment of a pod, with keys of this test and a store on this machine."""
    server = documents()["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    variables = dict(documents()["ConfigMap"]["data"])
    variables |= documents()["Secret"]["stringData"]
    variables |= {one["name"]: one["value"] for one in server["env"] if "value" in one}
    assert variables["ADK_STREAM_STORE"].startswith("postgres://")
    variables["ADK_STREAM_STORE"] = "memory"
    variables["ADK_STREAM_LISTEN"] = "127.0.0.1:0"
    variables["ADK_STREAM_ADVERTISE"] = variables["ADK_STREAM_ADVERTISE"].replace(
        "$(POD_IP)", "127.0.0.1"
    )
    for name in KEYS:
        assert "REPLACE-THIS" in variables[name], name
        variables[name] = variables[name].replace("REPLACE-THIS", "of-this-test")
    return variables


def test_server_does_not_start_with_a_key_of_the_sample():
    for name in KEYS:
        given = {**manifest_variables(), name: documents()["Secret"]["stringData"][name]}
        environment = {"PATH": os.environ["PATH"], **given}
        done = subprocess.run(
            [BINARY, "serve"], capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 2, done
        assert done.stderr.startswith(f"adk-stream: {name}: "), done.stderr
        assert "the text of a sample: replace it" in done.stderr, done.stderr
        assert "REPLACE-THIS" not in done.stderr, done.stderr


def test_metrics_of_a_pod_are_read_with_their_key_by_prometheus_alone():
    variables = manifest_variables()
    key = variables["ADK_STREAM_METRICS_KEY"]
    with launched(BINARY, ["serve"], variables) as url:
        request = urllib.request.Request(f"{url}/metrics")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request)
        request.add_header("authorization", f"Bearer {key}")
        assert b"adk_stream_build_info" in urllib.request.urlopen(request).read()
    # Its pods are let in, from the namespace and by the labels that the scrape rule's file names.
    rules = documents()["NetworkPolicy"]["spec"]["ingress"]
    sources = [source for rule in rules for source in rule["from"]]
    spaces = [source.get("namespaceSelector", {}).get("matchLabels", {}) for source in sources]
    assert {"kubernetes.io/metadata.name": "monitoring"} in spaces
    scraping = yaml.safe_load((DEPLOY / "prometheus/kubernetes.yml").read_text())
    (job,) = scraping["scrape_configs"]
    (found,) = job["kubernetes_sd_configs"]
    assert found["namespaces"]["names"] == [documents()["Deployment"]["metadata"]["namespace"]]
    kept = {
        rule["source_labels"][0].removeprefix("__meta_kubernetes_pod_"): rule["regex"]
        for rule in job["relabel_configs"]
        if rule.get("action") == "keep"
    }
    labels = documents()["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert kept.pop("label_app_kubernetes_io_name") == labels["app.kubernetes.io/name"]
    server = documents()["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert kept == {"container_port_name": server["ports"][0]["name"]}


def test_compose_file_sets_what_is_known_and_asks_for_every_key():
    server = yaml.safe_load(COMPOSE.read_text())["services"]["adk-stream"]["environment"]
    for name in ("ADK_STREAM_KEYS", "ADK_STREAM_METRICS_KEY"):
        assert server[name] == f"${{{name}:?set it in .env}}"
    given = {
        "ADK_STREAM_STORE": "memory",
        "ADK_STREAM_KEYS": "alice=a-key-of-this-test",
        "ADK_STREAM_METRICS_KEY": "another-key-of-this-test",
        "ADK_STREAM_AGENT": "demo",
        "ADK_STREAM_LISTEN": "127.0.0.1:0",
    }
    with launched(BINARY, ["serve"], {**server, **given}):
        pass
