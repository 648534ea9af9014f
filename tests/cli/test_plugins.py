"""Plug-ins: an installed package adds a benchmark, scorers and a protocol; a broken one harms no other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from tests.conftest import ROOT, clean_environment

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

MODULE = """
from pathlib import Path

Path(__file__).with_name("imported").touch()

from loadgen.driver.client.chat_completions import *
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
"""


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


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An endpoint that knows one capital, and shouts another."""
    script = tmp_path_factory.mktemp("replies") / "replies.jsonl"
    replies = {"France": "Paris", "Peru": "LIMA"}
    script.write_bytes(
        b"\n".join(orjson.dumps({"prompt": asked, "reply": reply}) for asked, reply in replies.items())
    )
    with start_mock(ttft="50ms", itl="0", replies=script) as mock:
        yield mock.url


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The questions of the benchmark."""
    folder = tmp_path_factory.mktemp("data")
    rows = [
        {"id": "fr", "country": "France", "capital": "Paris"},
        {"id": "pe", "country": "Peru", "capital": "Lima"},
    ]
    (folder / "capitals.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return folder


def test_help_loads_no_plugin(loadgen: Loadgen, site: Path) -> None:
    """Nor does a benchmark that comes with the program."""
    (site / "imported").unlink(missing_ok=True)
    assert loadgen("--help").returncode == 0
    assert loadgen("accuracy", "--help").returncode == 0
    assert loadgen("list", "tasks", "ifeval").returncode == 0
    assert not (site / "imported").exists()


def test_they_are_listed_and_broken_ones_are_reported(loadgen: Loadgen) -> None:
    """Each broken one in a line of its own, with the package and the reason; all others are there."""
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
    assert "whispering a plug-in of capitals-plugin 1.2" in protocols


@pytest.mark.slow
def test_a_session_asks_and_scores_a_plugin(
    loadgen: Loadgen, preloaded: Preloaded, url: str, data: Path, tmp_path: Path
) -> None:
    """Its benchmark, by its protocol; and it is scored again, by the scorer that it adds."""
    run = tmp_path / "run"
    asked = loadgen(
        *("accuracy", "World-Capitals", "--data", data, "--url", url, "--model", "m", "--json"),
        *("--protocol", "whispering", "-q", "--out", run, "--on-invalid", "warn"),
    )
    assert asked.returncode == 0, asked.stderr
    (score,) = orjson.loads(asked.stdout)["accuracy"]
    assert (score["task"], score["value"], score["official"]) == ("world_capitals", 0.5, True)
    again = loadgen("score", run, "--scorer", "loud", "--json", "-q")
    assert again.returncode == 0, again.stderr
    scores = {score["scorer"]: score["value"] for score in orjson.loads(again.stdout)["accuracy"]}
    assert scores == {"official": 0.5, "loud": 0.5}
    removed = preloaded.run("report", run, "--json", cwd=tmp_path, env=clean_environment())
    assert removed.returncode == 0, removed.stderr
    assert len(orjson.loads(removed.stdout)["accuracy"]) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("missing",), "missing: the benchmark of capitals-plugin 1.2 cannot be used"),
        (
            ("gsm8k", "--protocol", "half"),
            "half: the protocol of capitals-plugin 1.2 cannot be used",
        ),
        (
            ("gsm8k", "--protocol", "whisper"),
            "'whisper' is not a protocol; did you mean 'whispering'",
        ),
    ],
)
def test_a_broken_one_that_is_asked_for_is_an_error(
    loadgen: Loadgen, options: tuple[str, ...], message: str
) -> None:
    """That names the package."""
    ended = loadgen("accuracy", *options, "--url", "http://127.0.0.1:1", "--model", "m")
    assert ended.returncode == 2
    assert message in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
