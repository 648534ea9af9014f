"""The pages docs/adding-a-*.md do what they say: an installed package adds what its page names."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from reporter.log.query import query
from tests.cli.stand_ins import stand_in
from tests.conftest import clean_environment
from tests.for_each import for_each
from tests.recipe import blocks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.preloaded import Preloaded

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

FRAMES = [{"content": word, "stop": False} for word in ("It", " is", " so", ".")]
END = {"content": "", "stop": True, "stop_type": "eos", "tokens_predicted": 4, "tokens_evaluated": 3}


def python(site: Path, program: str) -> str:
    """The standard output of a Python program that imports the packages."""
    return subprocess.run(
        [sys.executable, "-c", program], cwd=site, capture_output=True, text=True, check=True
    ).stdout


def test_a_benchmark(loadgen: Loadgen, preloaded: Preloaded, tmp_path: Path) -> None:
    """The page's data is asked and scored, by its scorers and with its figures; the log keeps the scores."""
    files = blocks("adding-a-benchmark.md")
    (tmp_path / "capitals").mkdir()
    (tmp_path / "capitals" / "test.jsonl").write_text(files["capitals/test.jsonl"], encoding="utf-8")
    replies, run = tmp_path / "replies.jsonl", tmp_path / "run"
    asked = "What is the capital of {}? End with a line of the form `Capital: NAME`. Say nothing else."
    replied = {"France": "Capital: Paris", "Bolivia": "It is not Sucre.", "Japan": "Capital: Tokyo"}
    lines = [{"prompt": asked.format(country), "reply": reply} for country, reply in replied.items()]
    replies.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    with start_mock(ttft="50ms", itl="0", replies=replies) as mock:
        ended = loadgen(
            *("accuracy", "capitals:short=true", "--data", tmp_path, "--url", mock.url, "--model", "m"),
            *("--require", "accuracy.capitals:value>=0.6", "--require", "accuracy.capitals.europe:value>=1"),
            *("--json", "-q", "--out", run, "--on-invalid", "warn"),
        )
    assert ended.returncode == 0, ended.stderr
    (score,) = orjson.loads(ended.stdout)["accuracy"]
    assert (score["task"], score["value"], score["official"]) == (
        "capitals:short=true",
        pytest.approx(2 / 3),
        True,
    )
    again = loadgen("score", run, "--scorer", "anywhere", "--json", "-q")
    scores = {score["scorer"]: score["value"] for score in orjson.loads(again.stdout)["accuracy"]}
    assert scores == {"official": pytest.approx(2 / 3), "anywhere": 1.0}
    removed = preloaded.run("report", run, "--json", cwd=tmp_path, env=clean_environment())
    assert len(orjson.loads(removed.stdout)["accuracy"]) == 2


def test_a_scorer_for_own_data(loadgen: Loadgen, tmp_path: Path) -> None:
    """`--scorer` has it; the page's own examples of scores are right."""
    own, replies = tmp_path / "sums.jsonl", tmp_path / "replies.jsonl"
    own.write_text('{"user_prompt": "1 + 1?", "ground_truth": "2"}')
    replies.write_text('{"prompt": "1 + 1?", "reply": "It is 2"}')
    with start_mock(ttft="50ms", itl="0", replies=replies) as mock:
        ended = loadgen(
            *("accuracy", own, "--scorer", "final", "--url", mock.url, "--model", "m", "--json", "-q"),
            *("--out", tmp_path / "run", "--on-invalid", "warn"),
        )
    assert [score["value"] for score in orjson.loads(ended.stdout)["accuracy"]] == [1.0], ended.stderr


def test_the_examples_of_scores(site: Path) -> None:
    """The scores of the page are right."""
    python(site, blocks("adding-a-benchmark.md")["test_capitals.py"])


def test_a_protocol(loadgen: Loadgen, tmp_path: Path) -> None:
    """The protocol's path, members, texts and counts, from worker processes as well."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "why?"}\n', encoding="utf-8")
    body = b"".join(b"data: " + orjson.dumps(frame) + b"\n\n" for frame in (*FRAMES, END))
    with stand_in(lambda _: (200, "text/event-stream", body)) as server:
        run = loadgen(
            *("perf", "--url", server.url, "--model", "m", "--protocol", "llama_cpp", "--prompts", prompts),
            *("-n", 2, "--max-tokens", 9, "--request-seed", 7, "--no-probe", "-q", "--out", tmp_path / "run"),
        )
    asked = {"prompt": "why?", "stream": True, "n_predict": 9, "seed": 7}
    sent = [(request.path, orjson.loads(request.body)) for request in server.requests]
    assert sent == [("/completion", asked)] * 2, run.stderr
    answers = query(
        tmp_path / "run",
        "select output, output_tokens, chunks, finish_reason from samples join outputs using (sample_uuid)",
    )
    assert answers.rows == [("It is so.", 4, 4, "eos")] * 2


def test_an_arrival_process(run_of_triangular: Path, site: Path) -> None:
    """The requests are issued at the positions of the page's function."""
    script = (
        "from itertools import islice; from loadgen_triangular import positions\n"
        "print(*(round(at * 1e7) for at in islice(positions(7, 1.0), 20)))"
    )
    due = "SELECT scheduled_ns - started_ns FROM samples JOIN phases USING (phase) ORDER BY 1"
    expected = [int(position) for position in python(site, script).split()]
    assert [due_ns for (due_ns,) in query(run_of_triangular, due).rows] == expected


def test_a_report_is_the_same_without_the_package(
    loadgen: Loadgen, preloaded: Preloaded, run_of_triangular: Path, tmp_path: Path
) -> None:
    """Findings and words about an open loop need the log alone."""
    for options in ((), ("--json",)):
        installed = loadgen("report", run_of_triangular, *options).stdout
        removed = preloaded.run(
            "report", run_of_triangular, *options, cwd=tmp_path, env=clean_environment()
        ).stdout
        assert installed == removed
        assert "triangular" in removed


def test_a_report_format(loadgen: Loadgen, run_of_triangular: Path) -> None:
    """The format's text has the figures of report.json."""
    printed = loadgen("report", run_of_triangular, "--format", "prometheus")
    reported = orjson.loads((run_of_triangular / "report.json").read_bytes())
    figures = dict(line.rsplit(" ", 1) for line in printed.stdout.splitlines())
    assert figures['loadgen_requests{status="completed"}'] == str(reported["counts"]["completed"])
    assert float(figures['loadgen_ttft_seconds{quantile="0.99"}']) * 1000 == pytest.approx(
        reported["ttft_ms"]["p99"]
    )


@for_each(
    ("options", "part"),
    [
        (("list", "tasks"), "capitals"),
        (("list", "protocols"), "llama_cpp POST /completion, llama.cpp completions"),
        (("list", "loads"), "triangular --rate R --arrival triangular"),
        (("perf", "--help-all"), "Of other packages: llama_cpp."),
        (("perf", "--help-all"), "Of other packages: triangular."),
        (("report", "--help"), "Of other packages: prometheus."),
        (("accuracy", "capital", "--model", "m"), "Did you mean 'capitals'?"),
        (("perf", "--protocol", "llama_cp"), "'llama_cp' is not a protocol; did you mean 'llama_cpp'"),
        (
            ("perf", "--protocol", "responses", "--request-seed", "1"),
            "chat, completions and llama_cpp have it",
        ),
        (("perf", "--rate", "1", "--arrival", "triangle"), "did you mean 'triangular'"),
        (("report", "RUN", "--format", "prometeus"), "did you mean 'prometheus'"),
    ],
)
def test_lists_choices_and_messages_have_the_names(
    loadgen: Loadgen, options: tuple[str, ...], part: str
) -> None:
    """From the entry point alone."""
    ended = loadgen(*options)
    assert part in " ".join(f"{ended.stdout} {ended.stderr}".split())
