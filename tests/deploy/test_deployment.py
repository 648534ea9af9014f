"""`deploy/` has objects that Kubernetes takes, a gate that decides, and an image with all of the program."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import yaml
from jsonschema import Draft202012Validator

from loadgen.mock_endpoint.process import start_mock
from tests.command_reference import COMMANDS
from tests.conftest import ROOT, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

DEPLOY = ROOT / "deploy"
VALIDATOR = Draft202012Validator(orjson.loads((ROOT / "tests" / "deploy" / "api.schema.json").read_bytes()))
OBJECTS: dict[str, Any] = {
    document["kind"]: document
    for file in sorted(DEPLOY.glob("*.yaml"))
    for document in yaml.safe_load_all(file.read_text())
}
KEY = "sk-right-key"
PACKAGES = ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads")


def templates(document: Any) -> Iterator[Any]:
    """The pods of a job."""
    spec = document["spec"]
    if document["kind"] == "Job":
        yield spec["template"]
    else:
        cluster = spec["rayClusterSpec"]
        yield from (group["template"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]))


def test_kubernetes_takes_every_object() -> None:
    """By the definitions of its API and of KubeRay's, which know each member; none fits with a wrong one."""
    assert OBJECTS.keys() == {"ConfigMap", "Job", "PersistentVolumeClaim", "RayJob"}
    assert [kind for kind, document in OBJECTS.items() if not VALIDATOR.is_valid(document)] == []
    for kind, document in OBJECTS.items():
        assert not VALIDATOR.is_valid({**document, "spek": {}}), kind
        for template in templates(document) if "Job" in kind else ():
            (container,) = template["spec"]["containers"]
            for member, wrong in (("env", [{"nam": "X"}]), ("image", 1), ("resources", {"limit": {}})):
                changed = orjson.loads(orjson.dumps(document))
                for other in templates(changed):
                    if other["spec"]["containers"] == [container]:
                        other["spec"]["containers"][0][member] = wrong
                assert not VALIDATOR.is_valid(changed), (kind, member)


@pytest.mark.parametrize("kind", ["Job", "RayJob"])
def test_a_job_decides_once_and_has_what_it_names(kind: str) -> None:
    """No retry; exclusive CPUs, no root; its volumes are those of the folder."""
    document = OBJECTS[kind]
    spec = document["spec"]
    assert spec["backoffLimit"] == 0
    assert 0 < spec["activeDeadlineSeconds"] <= 3600
    for template in templates(document):
        pod = template["spec"]
        (container,) = pod["containers"]
        assert container["resources"]["requests"] == container["resources"]["limits"]
        assert container["resources"]["limits"]["cpu"].isdigit()
        assert pod["securityContext"]["runAsNonRoot"]
        assert f"--uid {pod['securityContext']['runAsUser']} " in (DEPLOY / "Containerfile").read_text()
        volumes = {volume["name"]: volume for volume in pod.get("volumes", ())}
        assert {mount["name"] for mount in container.get("volumeMounts", ())} == volumes.keys()
        for name, reference in (
            ("ConfigMap", "configMap"),
            ("PersistentVolumeClaim", "persistentVolumeClaim"),
        ):
            named = [volume[reference] for volume in volumes.values() if reference in volume]
            names = {value.get("name", value.get("claimName")) for value in named}
            assert names <= {OBJECTS[name]["metadata"]["name"]}
        for entry in container.get("env", ()):
            assert "sk-" not in str(entry)


def test_the_ray_job_starts_a_run_on_its_nodes() -> None:
    """With options that exist; as many nodes as it has clients, without its head; Ray as in the image."""
    spec = OBJECTS["RayJob"]["spec"]
    script, *options = shlex.split(spec["entrypoint"])[1:]
    assert script == "/etc/loadgen/gate.sh"
    flags = {flag for parameter in COMMANDS["perf"].params for flag in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= flags
    (clients,) = spec["rayClusterSpec"]["workerGroupSpecs"]
    number = options[options.index("--nodes") + 1]
    assert {clients[name] for name in ("replicas", "minReplicas", "maxReplicas")} == {int(number)}
    assert spec["rayClusterSpec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    containerfile = (DEPLOY / "Containerfile").read_text()
    assert f"ray[default]=={spec['rayClusterSpec']['rayVersion']}'" in containerfile


@pytest.fixture(scope="module")
def server() -> Iterator[MockProcess]:
    """An endpoint that answers at once, and wants the key."""
    with start_mock(ttft="1ms", itl="0", tokens="4", api_key=KEY) as mock:
        yield mock


@pytest.mark.slow
@pytest.mark.parametrize(("target", "status"), [("ttft:p(50)<10s", 0), ("qps>=1000000", 1)])
def test_the_gate_decides(
    server: MockProcess, program_folder: Path, tmp_path: Path, target: str, status: int
) -> None:
    """The job's own script, with another target: it exits as the verdict says; report and JUnit are left."""
    files = OBJECTS["ConfigMap"]["data"]
    (tmp_path / "gate.sh").write_text(files["gate.sh"])
    rules = yaml.safe_load(files["rules.yaml"]) | {"targets": [target]}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    environment = {
        "PATH": f"{program_folder}{os.pathsep}{os.environ['PATH']}",
        "LOADGEN_URL": server.url,
        "LOADGEN_API_KEY": KEY,
        "LLM_MODEL": "small-model",
        "RATE": "50",
        "DURATION": "0.7s",
        "RUN": str(tmp_path / "run"),
    }
    declared = {entry["name"] for entry in next(templates(OBJECTS["Job"]))["spec"]["containers"][0]["env"]}
    assert environment.keys() - {"PATH"} <= declared
    done = subprocess.run(
        ["/bin/sh", str(tmp_path / "gate.sh"), "--on-invalid", "warn"],
        cwd=tmp_path,
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert (tmp_path / "run" / "report.html").stat().st_size > 100_000
    assert ("<failure" in (tmp_path / "run" / "junit.xml").read_text()) == (status == 1)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the image's build copies, and nothing else."""
    folder = tmp_path_factory.mktemp("src")
    text = (DEPLOY / "Containerfile").read_text().replace("COPY LICENSE wheelhouse* /wheelhouse/\n", "")
    for *sources, target in (line.split() for line in re.findall(r"(?m)^COPY ([^-].*)$", text)):
        for source in sources:
            if source.endswith("/"):
                assert source == target
                without = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, folder / target, ignore=without)
            else:
                if target.endswith("/"):
                    (folder / target).mkdir(exist_ok=True)
                shutil.copy(ROOT / source, folder / target)
    return folder


@pytest.mark.slow
def test_the_image_has_all_of_the_program(copied: Path) -> None:
    """A wheel of the copied files has every file of the packages."""
    pytest.importorskip("hatchling", reason="a wheel is built with hatchling, of the extra `dev`")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"]
    environment = os.environ | {"LOADGEN_PURE": "1"}
    subprocess.run(build, cwd=copied, check=True, capture_output=True, env=environment)
    (wheel,) = copied.glob("dist/*.whl")
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    sources = {
        str(path.relative_to(ROOT))
        for path in files
        if "__pycache__" not in path.parts and path.suffix != ".so"
    }
    with zipfile.ZipFile(wheel) as archive:
        assert sources <= set(archive.namelist())
