"""Plug-ins of an installed package: a broken one, or one whose name is taken, harms no other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import orjson
import pytest

from tests.conftest import ROOT, clean_environment
from tests.for_each import for_each

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess
    from tests.preloaded import Preloaded

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

MODULE = """
from pathlib import Path

Path(__file__).with_name("imported").touch()

from loadgen.driver.client.chat_completions import *
from loadgen.extensions import ResultFormat
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import graded
from workloads.scorer import Scorer
from workloads.workload import Source, Workload


def questions(inputs):
    for index, row in enumerate(inputs.rows):
        yield Question(row["id"], Sample(index, row["country"]), {"answer": row["capital"]})


def grade(reference, answer):
    return graded(reference["answer"] in answer.text, answer.text)


def shouted(reference, answer):
    return graded(reference["answer"].upper() in answer.text, answer.text)


CAPITALS = Workload(
    name="world_capitals",
    title="the capitals of the world",
    version=1,
    source=Source(files=("capitals.jsonl",), columns=("id", "country", "capital"), rows=2),
    questions=questions,
    scorers=(Scorer("official", 1, grade, "the tests"),),
)
LOUD = Scorer("loud", 1, shouted, "the tests: in capitals")
OTHER = Scorer("other", 1, shouted, "the tests: declared under another name")
NOTHING = 42
RESULTS = ResultFormat("results", "nothing", "the tests", list, ())


class Whispering:
    path = "/chat/completions"
    models = "/models"
    announces_end = True
    cumulative = False
    headers = staticmethod(headers)
    request = staticmethod(lambda sample, generation: request(sample, generation) | {"whisper": True})
    asked = staticmethod(asked)
    chunk = staticmethod(chunk)
    whole = staticmethod(whole)


WHISPERING = Whispering()
"""
ENTRY_POINTS = """\
[llm_loadgen.benchmarks]
world_capitals = capitals_plugin:CAPITALS
gsm8k = capitals_plugin:CAPITALS
number = capitals_plugin:NOTHING
missing = no_such_module:CAPITALS
renamed = capitals_plugin:CAPITALS

[llm_loadgen.scorers]
world_capitals.loud = capitals_plugin:LOUD
own.loud = capitals_plugin:LOUD
world_capitals.quiet = capitals_plugin:OTHER

[llm_loadgen.protocols]
whispering = capitals_plugin:WHISPERING
half = capitals_plugin:NOTHING
chat = capitals_plugin:WHISPERING

[llm_loadgen.arrivals]
broken = no_such_module:ARRIVALS
poisson = capitals_plugin:NOTHING

[llm_loadgen.reports]
broken = capitals_plugin:NOTHING
html = capitals_plugin:NOTHING

[llm_loadgen.commands]
broken = no_such_module:command
perf = capitals_plugin:NOTHING

[llm_loadgen.trackers]
broken = capitals_plugin:NOTHING
wandb = capitals_plugin:NOTHING

[llm_loadgen.imports]
broken = capitals_plugin:NOTHING
another = capitals_plugin:RESULTS
"""

TO = ("--url", "http://127.0.0.1:1", "--model", "m")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed package."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "capitals_plugin.py").write_text(MODULE)
    info = folder / "capitals_plugin-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: capitals-plugin\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


@pytest.fixture(scope="module")
def loadgen(site: Path, preloaded: Preloaded) -> Loadgen:
    """Run the program where the package is installed: in the folder that it is imported from first."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        path = f"{site}{os.pathsep}{ROOT}"  # of its worker processes
        return preloaded.run(*arguments, cwd=site, env=clean_environment(PYTHONPATH=path))

    return run


def test_no_plugin_is_loaded_in_vain(loadgen: Loadgen, site: Path, mock: MockProcess, tmp_path: Path) -> None:
    """By help, a benchmark that comes with the program, or a run and its report."""
    (site / "imported").unlink(missing_ok=True)
    assert loadgen("--help").returncode == 0
    assert loadgen("accuracy", "--help").returncode == 0
    assert loadgen("report", "--help").returncode == 0
    assert loadgen("list", "tasks", "ifeval").returncode == 0
    run = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "--rate", 50),
        *("-n", 2, "--out", tmp_path / "run", "--on-invalid", "warn"),
    )
    assert run.returncode == 0, run.stderr
    assert loadgen("report", tmp_path / "run", "--format", "md").returncode == 0
    assert not (site / "imported").exists()


def test_they_are_listed_and_broken_ones_are_reported(loadgen: Loadgen) -> None:
    """Each broken one in a separate line, with the package and the reason; all others are there."""
    listed = loadgen("list", "tasks")
    assert listed.returncode == 0
    assert "world_capitals" in listed.stdout
    assert "gsm8k" in listed.stdout
    warnings = listed.stderr.splitlines()
    for warning in (
        "gsm8k: the benchmark of capitals-plugin 1.2 is not used: the name is taken",
        "number: the benchmark of capitals-plugin 1.2 cannot be used: capitals_plugin:NOTHING is int, where",
        "missing: the benchmark of capitals-plugin 1.2 cannot be used: no_such_module:CAPITALS cannot be",
        "renamed: the benchmark of capitals-plugin 1.2 cannot be used: the plug-in's name is",
        "world_capitals.quiet: the scorer of capitals-plugin 1.2 cannot be used: its name is 'other'",
    ):
        assert any(line.startswith(f"warning: {warning}") for line in warnings), warning
    facts = orjson.loads(loadgen("list", "tasks", "--json").stdout)
    assert facts["world_capitals"]["plugin"] == "capitals-plugin 1.2"
    assert [scorer["name"] for scorer in facts["world_capitals"]["scorers"]] == ["official", "loud"]
    assert facts["gsm8k"]["plugin"] is None
    protocols = [" ".join(line.split()) for line in loadgen("list", "protocols").stdout.splitlines()]
    assert "whispering POST /chat/completions, a plug-in of capitals-plugin 1.2" in protocols
    for kind, noun in (("protocols", "protocol"), ("loads", "arrival process"), ("formats", "import format")):
        listed = loadgen("list", kind)
        assert listed.returncode == 0
        assert f"the {noun} of capitals-plugin 1.2 cannot be used" in listed.stdout
    shown = " ".join(loadgen("--help").stdout.split())
    assert "broken: the command of capitals-plugin 1.2 cannot be used" in shown
    unused = orjson.loads(loadgen("list", "plugins", "--json").stdout)["capitals-plugin 1.2"]["unused"]
    assert unused == [
        *("commands perf", "benchmarks gsm8k", "protocols chat", "arrivals poisson", "reports html"),
        "trackers wandb",
    ]


@for_each(
    ("options", "message"),
    [
        (("accuracy", "missing", *TO), "missing: the benchmark"),
        (("perf", "--protocol", "half", *TO), "half: the protocol"),
        (("perf", "--rate", "1", "--arrival", "broken", *TO), "broken: the arrival process"),
        (("report", "RUN", "--format", "broken"), "broken: the report format"),
        (("export", "RUN", "--to", "broken"), "broken: the tracker"),
        (("import", "broken", "RUN"), "broken: the import format"),
        (("import", "another", "RUN"), "another: the import format"),
        (("broken",), "broken: the command"),
    ],
)
def test_a_broken_one_that_is_asked_for_is_an_error(
    loadgen: Loadgen, made_run: Path, options: tuple[str, ...], message: str
) -> None:
    """That names the package."""
    ended = loadgen(*(made_run if option == "RUN" else option for option in options))
    assert ended.returncode == 2
    assert f"{message} of capitals-plugin 1.2 cannot be used" in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
