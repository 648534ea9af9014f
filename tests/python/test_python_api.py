"""`import loadgen`: sessions and runs from Python."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import loadgen
import rulesets
from recorder import EventType
from recorder.payload_check import checked
from reporter import MetricsReporter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen import MockProcess, Progress, Run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[MockProcess]:
    """A quick endpoint."""
    with loadgen.mock(ttft="5ms", itl="1ms", tokens="6") as mock:
        yield mock


@pytest.fixture(scope="module")
def run(server: MockProcess, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of 60 requests."""
    folder = tmp_path_factory.mktemp("python") / "run"
    return loadgen.perf(url=server.url, model="m", concurrency=4, requests=60, out=folder, probe=False)


def test_a_report(run: Run) -> None:
    """It is that of the command line, with further percentiles where they are asked for."""
    report = run.report(percentiles="75")
    assert report.counts.completed == 60
    assert (run.folder / "report.json").is_file()
    assert report.ttft_ms is not None


def test_sql_is_a_relation(run: Run) -> None:
    """It is computed on use, also over tables that are loaded on demand, and outlives further questions."""
    samples = run.sql("SELECT count(*) FROM samples")
    assert run.sql("SELECT count(*) FROM chunks").fetchall()[0][0] > 60
    assert samples.fetchall() == [(60,)]
    assert run.sql("SELECT 1 AS one").arrow().read_all().to_pydict() == {"one": [1]}


def test_sql_reads_no_file(run: Run, tmp_path: Path) -> None:
    """A query has only the log."""
    (tmp_path / "f.csv").write_text("a\n1\n")
    with pytest.raises(loadgen.UsageError, match="disabled"):
        run.sql(f"FROM '{tmp_path}/f.csv'")


@pytest.mark.parametrize(
    ("query", "message"), [("SELEC 1", "syntax error"), ("SET lock_configuration = false", "lock")]
)
def test_wrong_sql(run: Run, query: str, message: str) -> None:
    """The error names the views."""
    with pytest.raises(loadgen.UsageError, match=message):
        run.sql(query)


def test_the_log_has_the_payloads_that_are_asked_of_others(run: Run) -> None:
    """Each event of a run could be recorded by `EventRecorder.record_event`."""
    with MetricsReporter(run.folder) as reporter:
        reporter.dump_to_json(run.folder / "events.jsonl")
    lines = [orjson.loads(line) for line in (run.folder / "events.jsonl").read_bytes().splitlines()]
    for line in lines:
        if data := line["data"]:
            data |= {key: bytes(4) for key in data.keys() & {"chunk_gaps_us"}}
        checked(EventType[line["event_type"]], line["timestamp_ns"], line["sample_uuid"], data)
    assert {line["event_type"] for line in lines} >= {"PHASE_STARTED", "COMPLETE", "TEST_ENDED"}


def test_outputs(run: Run) -> None:
    """Each request has its prompt and its answer."""
    rows = run.outputs().fetchall()
    assert len(rows) == 60
    assert all(prompt and output for _, prompt, output, *_ in rows)


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        (["ttft:p(50)<60s"], "PASS"),
        (["qps>1000000"], "FAIL"),
        ([rulesets.TTFT(60_000), rulesets.Throughput(0.001)], "PASS"),
        ([rulesets.Throughput(1_000_000)], "FAIL"),
        (rulesets.of_expressions(["error<1%"]), "PASS"),
    ],
)
def test_rules(run: Run, rules: Any, status: str) -> None:
    """Texts, metrics, and rulesets."""
    verdict = run.gate(rules, on_invalid="warn")
    assert verdict.status == status
    assert rulesets.Verdict.of_dict(verdict.to_dict()).to_dict() == verdict.to_dict()


def test_no_rules(run: Run) -> None:
    """A run that was started without rules has none."""
    with pytest.raises(loadgen.UsageError, match="no rules"):
        run.gate()


def test_a_comparison(run: Run, server: MockProcess, tmp_path: Path) -> None:
    """With another run, by its folder."""
    other = loadgen.perf(url=server.url, model="m", concurrency=4, requests=60, out=tmp_path / "run")
    comparison = run.compare(other.folder, metrics=["ttft:mean"])
    assert comparison.rows[0].metric == "ttft:mean"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"requsts": 3}, loadgen.UsageError, "unknown setting 'requsts'; did you mean 'requests'"),
        ({"requests": "many"}, loadgen.UsageError, "requests: must be a whole number"),
        ({"requests": 1.5}, loadgen.UsageError, "requests: must be a whole number"),
        (
            {"arrival": "poison"},
            loadgen.UsageError,
            "unknown arrival process 'poison'; did you mean 'poisson'",
        ),
        ({"duration": "soon"}, loadgen.UsageError, "duration: cannot be read: 'soon' is not a duration"),
        ({"json": True}, loadgen.UsageError, "unknown setting 'json'"),
        ({"concurrency": 0}, loadgen.UsageError, "concurrency"),
        ({"url": "http://127.0.0.1:9"}, loadgen.SetupError, "cannot be reached"),
    ],
)
def test_errors(tmp_path: Path, options: dict[str, Any], error: type[Exception], message: str) -> None:
    """They say what the command line says."""
    with pytest.raises(error, match=message):
        loadgen.perf(**{"model": "m", "out": tmp_path / "run", **options})
    assert not (tmp_path / "run").exists()


def test_a_model_is_needed() -> None:
    """As on the command line."""
    with pytest.raises(loadgen.UsageError, match="model is missing"):
        loadgen.perf(url="http://127.0.0.1:9")  # type: ignore[call-arg]


@pytest.mark.slow
def test_a_series_is_not_a_run(server: MockProcess, tmp_path: Path) -> None:
    """A sweep has runs, but its folder is not a run."""
    result = loadgen.sweep(url=server.url, model="m", concurrency="1,2", requests=10, out=tmp_path / "sweep")
    assert [run.folder.parent for run in result.runs] == [result.folder, result.folder]
    assert len(result.summary["points"]) == 2
    with pytest.raises(loadgen.UsageError, match="a series: name a run"):
        loadgen.open_run(result.folder)
    with pytest.raises(loadgen.UsageError, match="no log"):
        loadgen.open_run(tmp_path)


@pytest.mark.slow
def test_a_suite_runs_and_is_summed_up(
    server: MockProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the files that `loadgen run` writes; options choose and change runs."""
    suite = tmp_path / "suite.toml"
    tables = [f'[[benchmarks]]\nname = "{name}"\nrequests = 100\n' for name in ("chat", "summary")]
    suite.write_text(f'[[models]]\nname = "m"\nurl = "{server.url}"\n{"".join(tables)}')
    monkeypatch.chdir(tmp_path)
    result = loadgen.run_suite(suite, benchmark_filter="chat", requests=5, out=tmp_path / "all")
    assert [run.report().counts.completed for run in result.runs] == [5]
    assert result.summary == orjson.loads((tmp_path / "all" / "summary.json").read_bytes())
    for options, message in (
        ({"suite": suite, "dry_run": True}, "unknown setting 'dry_run'"),
        ({"suite": tmp_path / "none.toml"}, "none.toml does not exist"),
        ({}, "name a suite, or every benchmark"),
    ):
        with pytest.raises(loadgen.UsageError, match=message):
            loadgen.run_suite(**options)


@pytest.mark.slow
def test_descriptions_of_tools_are_optimized(server: MockProcess, tmp_path: Path) -> None:
    """The kept descriptions are the file that `tool_selection:descriptions=VARIANT` reads."""
    session: dict[str, Any] = {"url": server.url, "model": "m", "optimizer": "copro", "tools": "2-tool"}
    result = loadgen.optimize_tools(**session, levels="simple", max_calls=60, out=tmp_path / "best")
    (variant,) = result.summary["variants"]
    assert (variant["variant"], variant["status"]) == ("accuracy_balanced", "no better proposal")
    assert result.summary == orjson.loads((tmp_path / "best" / "optimization.json").read_bytes())
    assert result.descriptions == {
        "accuracy_balanced": tmp_path / "best" / "descriptions" / "accuracy_balanced.yaml"
    }
    assert result.descriptions["accuracy_balanced"].is_file()
    with pytest.raises(loadgen.UsageError, match="unknown setting 'requests' here"):
        loadgen.optimize_tools(**session, requests=5)


def test_benchmarks_are_asked_and_scored(tmp_path: Path) -> None:
    """With the options of `loadgen accuracy`; the report has the scores, and SQL each of them."""
    questions = tmp_path / "faq.jsonl"
    lines = [{"user_prompt": f"{number} + 1?", "ground_truth": str(number + 1)} for number in range(4)]
    questions.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    answers = [{"prompt": line["user_prompt"], "reply": line["ground_truth"]} for line in lines[:3]]
    replies = tmp_path / "replies.jsonl"
    replies.write_bytes(b"\n".join(map(orjson.dumps, answers)))
    with loadgen.mock(ttft="5ms", itl="0", replies=replies) as mock:
        asked = loadgen.accuracy(str(questions), url=mock.url, model="m", out=tmp_path / "run", repeats=2)
    (score,) = asked.report().accuracy
    assert (score.task, score.questions, score.issued, score.value) == (
        str(questions),
        4,
        8,
        0.75,
    )
    assert asked.sql("SELECT count(*), sum(value) FROM scores").fetchall() == [(8, 6.0)]
    with pytest.raises(loadgen.UsageError, match="gsm9k"):
        loadgen.accuracy("gsm9k", url="http://127.0.0.1:9", model="m")


def test_in_a_running_event_loop(server: MockProcess, tmp_path: Path) -> None:
    """As in a notebook's kernel."""

    async def cell() -> Run:
        return loadgen.perf(url=server.url, model="m", requests=5, out=tmp_path / "run")

    assert asyncio.run(cell()).report().counts.completed == 5


@pytest.mark.slow
def test_progress_comes_in_the_callers_thread(server: MockProcess, tmp_path: Path) -> None:
    """And what it raises ends the session in order."""
    threads = set()

    def stop(progress: Progress) -> None:
        threads.add(threading.current_thread())
        assert progress.phase in {"setup", "warmup", "performance", "drain"}
        raise LookupError

    with pytest.raises(LookupError):
        loadgen.perf(url=server.url, model="m", duration=60, out=tmp_path / "run", progress=stop)
    assert threads == {threading.current_thread()}
    assert loadgen.open_run(tmp_path / "run").report().run.ended == "interrupted"


@pytest.mark.slow
def test_one_session_at_a_time(server: MockProcess, tmp_path: Path) -> None:
    """Two would measure each other; a stopped one does not block the next."""
    errors: list[str] = []

    def again(_: Progress) -> None:
        try:
            loadgen.perf(url=server.url, model="m", requests=1, out=tmp_path / "second")
        except loadgen.UsageError as error:
            errors.append(str(error))
        raise LookupError

    with pytest.raises(LookupError):
        loadgen.perf(url=server.url, model="m", duration=60, out=tmp_path / "first", progress=again)
    assert "already" in errors[0]
    third = loadgen.perf(url=server.url, model="m", requests=1, out=tmp_path / "third")
    assert third.report().counts.completed == 1


def test_an_interrupt_leaves_a_whole_log(server: MockProcess, tmp_path: Path) -> None:
    """It ends the session, then reaches the caller, whose handlers are as before; nothing is printed."""
    script = (
        "import loadgen, os, signal, threading\n"
        "def interrupt(p): p.completed and os.kill(os.getpid(), signal.SIGINT)\n"
        "try:\n"
        f"    loadgen.perf(url={server.url!r}, model='m', duration=60, out='run', progress=interrupt)\n"
        "except KeyboardInterrupt:\n"
        "    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "    assert threading.active_count() == 1\n"
        "    print(loadgen.open_run('run').report().run.ended)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n", "", 0)


def test_a_tokenizer_is_loaded_where_one_counts(run: Run) -> None:
    """A report, SQL and a verdict without one load none of its packages."""
    script = (
        "import sys, loadgen\n"
        f"run = loadgen.open_run({str(run.folder)!r})\n"
        "run.report(), run.sql('FROM samples').fetchall(), run.gate(['qps>0'], on_invalid='warn')\n"
        "print({'transformers', 'tokenizers', 'huggingface_hub'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_import_is_quick() -> None:
    """`import loadgen` loads none of what it offers."""
    script = "import sys, loadgen; print(*(n for n in sys.modules if n.startswith(('loadgen', 'duckdb'))))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["loadgen"]
