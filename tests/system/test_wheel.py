"""The wheel, installed into a separate environment: it is complete, and works far from the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from packaging.requirements import Requirement

from loadgen.mock_endpoint.process import start_mock
from tests.conftest import ROOT, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PACKAGES = ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads")

MODULES = {"loadgen/driver/client/_wire.abi3.so", "reporter/log/_requests.abi3.so"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["compiled", "pure"])
def is_compiled(request: pytest.FixtureRequest) -> bool:
    """Whether the wheel has compiled code: both kinds are built where there is a compiler."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if request.param == "compiled" and not (
        sys.platform == "linux" and shutil.which("cc") and header.exists()
    ):
        pytest.skip("needs Linux and a C compiler")
    return bool(request.param == "compiled")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, *, is_compiled: bool) -> Path:
    """The wheel of this checkout."""
    return _built(tmp_path_factory.mktemp("dist"), is_compiled=is_compiled)


def _built(folder: Path, *, is_compiled: bool) -> Path:
    pytest.importorskip("hatchling", reason="a wheel is built with hatchling, of the extra `dev`")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    environment = os.environ | ({} if is_compiled else {"LOADGEN_PURE": "1"})
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, env=environment)
    (built,) = folder.glob("*.whl")
    return built


def test_a_second_build_has_the_same_bytes(wheel: Path, tmp_path: Path, *, is_compiled: bool) -> None:
    """A wheel is reproducible."""
    assert _built(tmp_path, is_compiled=is_compiled).read_bytes() == wheel.read_bytes()


def test_the_bill_of_materials(wheel: Path) -> None:
    """The wheel names the libraries in the bundle of the pages, with their licences."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if "/sboms/" in name)
        listed = orjson.loads(archive.read(name))["components"]
    assert {item["name"] for item in listed} == {"echarts", "tslib", "zrender"}
    assert all(item["licenses"] for item in listed)


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in a fresh environment, which has the dependencies of this one and not its packages."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder)
    place = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    # A path in a .pth file is searched, but its own .pth files are not read: an editable install is not seen.
    (place / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--no-deps"]
    # A third of the files is imported; without this option all are compiled.
    options = ["--no-index", "--no-compile", "--force-reinstall"]
    subprocess.run([*pip, *options, str(wheel)], check=True, capture_output=True)
    return folder / "bin" / "loadgen"


def test_everything_is_in_it(wheel: Path) -> None:
    """Each file of the packages: the SQL, the rulesets, the benchmarks' own data as well."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file())
    built = {"__pycache__", *(Path(module).name for module in MODULES)}
    sources = {str(path.relative_to(ROOT)) for path in files if built.isdisjoint(path.parts)}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert sources <= packed
    assert {name.split("/")[0] for name in packed} == set(PACKAGES)


def test_it_is_for_the_platforms_that_it_runs_on(wheel: Path, *, is_compiled: bool) -> None:
    """With compiled code for this one and any CPython from 3.11 on, without it for all."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.stem.endswith(f"-cp311-abi3-{platform}" if is_compiled else "-py3-none-any")
    with zipfile.ZipFile(wheel) as archive:
        assert {*archive.namelist()} & MODULES == (MODULES if is_compiled else set())


def _lines_of(extra: str, extras: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The requirements of an extra, in place of the other extras of this package that it is made of."""
    for line in extras[extra]:
        requirement = Requirement(line)
        if requirement.name != "llm-loadgen":
            yield line
        for inner in sorted(requirement.extras) if requirement.name == "llm-loadgen" else ():
            yield from _lines_of(inner, extras)


def test_it_says_what_it_depends_on(wheel: Path) -> None:
    """Each requirement of pyproject.toml, those of an extra with its name; nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    of_extras = {extra: list(_lines_of(extra, extras)) for extra in extras}
    expected = [Requirement(line) for line in project["dependencies"]]
    expected += [
        Requirement(f"{line}; extra == '{extra}'") for extra, lines in of_extras.items() for line in lines
    ]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(name))
    stated = metadata.get_all("Requires-Dist", [])
    assert {Requirement(line) for line in stated} == {*expected}
    assert len(stated) == len({*expected})
    assert metadata["Requires-Python"] == project["requires-python"]
    assert {*metadata.get_all("Provides-Extra", [])} == {*extras}


def test_it_runs_far_from_the_repository(program: Path, tmp_path: Path, *, is_compiled: bool) -> None:
    """Its version, a run against a mock, the report, what it has built in; all from the wheel's own files."""

    def run(*words: str) -> str:
        done = subprocess.run(
            [program, *words],
            cwd=tmp_path,
            env=clean_environment(PATH=os.environ["PATH"], PYTHONPATH=""),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in {0, 4}, done.stderr
        return done.stdout

    version = run("--version")
    assert version.startswith("llm-loadgen ")
    assert ("client I/O compiled" in version) == is_compiled
    where = [program.parent / "python", "-c", "import reporter; print(reporter.__file__)"]
    loaded = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(loaded).is_relative_to(program.parents[1])
    with start_mock(ttft="5ms", itl="1ms", tokens="4") as server:
        run("perf", "--url", server.url, "--model", "m", "-n", "5", "-q", "--out", "r", "--ruleset", "chat")
    assert orjson.loads(run("report", "r", "--json"))["counts"]["completed"] == 5
    logged = "select environment ->> '$.compiled_io' as io from session"
    assert run("sql", "r", logged).split() == ["io", str(is_compiled).lower()]
    assert "mlperf-inference" in run("list", "rulesets")
    assert "gsm8k" in run("list", "tasks")
    assert run("sql", "r", "select count(*) as n from samples").split() == ["n", "5"]
