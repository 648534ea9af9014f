"""The readers of files: what makes valid files in a folder, and what reads the folder as a command does."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples"

_folders: list[tempfile.TemporaryDirectory[str]] = []
_import_paths: dict[str, Path] = {}
"""What `loadgen import` is given of a folder, by the format."""


# Files…


def _prompts(folder: Path, rng: random.Random) -> None:
    """Prompts in each format, one file a case."""
    chat = [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}]
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    rows: list[dict[str, Any]] = [
        {"prompt": "a", "weight": 1, "output": 5, "tags": {"class": "x"}},
        {"messages": chat, "tools": [tool]},
        {
            "messages": [
                *chat,
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "content": "x"},
                chat[1],
            ]
        },
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "t"}, image]}]},
        {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]},
        {"prompt": [1, 2, 3]},
    ]
    chosen = [row for row in rows if row.keys() == rng.choice(rows).keys()] or rows
    match rng.randrange(3):
        case 0:
            (folder / "q.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in chosen))
        case 1:
            (folder / "q.json").write_text(json.dumps(chosen))
        case _:
            (folder / "q.csv").write_text("prompt,weight,output\nhello,1,5\nthere,2,6\n")


def _trace(folder: Path, rng: random.Random) -> None:
    path = rng.choice(sorted((EXAMPLES / "traces").iterdir()))
    lines = path.read_text().splitlines()[:20]
    (folder / f"trace{path.suffix}").write_text("\n".join(lines))


def _ruleset(folder: Path, rng: random.Random) -> None:
    builtin = sorted((ROOT / "rulesets" / "builtin").glob("*.yaml"))
    path = rng.choice([EXAMPLES / "rulesets" / "chat.yaml", *builtin])
    shutil.copy(path, folder / "rules.yaml")


def _suite(folder: Path, rng: random.Random) -> None:
    templates = sorted((ROOT / "loadgen" / "sessions" / "series" / "suite").glob("*.toml"))
    shutil.copy(rng.choice([EXAMPLES / "suite.toml", *templates]), folder / "suite.toml")


def _stages(folder: Path, rng: random.Random) -> None:
    stages = [{"name": "a", "duration": "10s", "rate": "5"}, {"duration": "1m", "rate": "ramp:5..10,60s"}]
    if rng.randrange(2):
        (folder / "stages.json").write_text(json.dumps({"stages": stages}))
    else:
        tables = "".join(
            f'[[stages]]\nduration = "{stage["duration"]}"\nrate = "{stage["rate"]}"\n' for stage in stages
        )
        (folder / "stages.toml").write_text(tables)


def _harness(name: str, folder: Path, _: random.Random) -> None:
    from tests.plugins.imports import harness_files, load_files

    writers = {**harness_files.WRITERS, **load_files.WRITERS}
    _import_paths[name] = writers[name](folder).relative_to(folder)


@cache
def _run() -> Path:
    """A run of a mock endpoint, interrupted in its log, so that it can be resumed."""
    import loadgen
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.process import MockProcess

    holder = tempfile.TemporaryDirectory(prefix="loadgen-fuzz-")
    _folders.append(holder)
    run = Path(holder.name) / "run"
    with MockProcess(MockOptions(port=0)) as mock:
        loadgen.perf(
            url=mock.url, model="m", requests=4, concurrency=2, max_tokens=4, out=run, require="ttft:p50<1s"
        )
    return run


@cache
def _archive() -> Path:
    from reporter.archive.write import archive

    place = _run().with_name("archive")
    archive(_run(), place, "1")
    return place


@cache
def _series() -> Path:
    import loadgen
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.process import MockProcess

    series = _run().with_name("series")
    with MockProcess(MockOptions(port=0)) as mock:
        loadgen.sweep(url=mock.url, model="m", requests=4, concurrency="1,2", max_tokens=4, out=series)
    return series


def _copied(of: Callable[[], Path], folder: Path, _: random.Random) -> None:
    shutil.copytree(of(), folder, dirs_exist_ok=True)


def _cut_off(folder: Path, rng: random.Random) -> None:
    """A run that was killed when one request had been answered."""
    from tests.cli.test_resuming import cut_off

    _copied(_run, folder, rng)
    cut_off(folder, [0])


def _log(folder: Path, rng: random.Random) -> None:
    """The log of a run with requests, or one with an event of each kind."""
    from tests.fuzz.targets import whole_log

    if rng.randrange(2):
        shutil.copy(_run() / "events.db", folder)
    else:
        (folder / "events.db").write_bytes(whole_log())


def _run_log(folder: Path, rng: random.Random) -> None:
    """The log of a run, which has the texts of its prompts."""
    del rng
    shutil.copy(_run() / "events.db", folder)


# What reads them…


def _only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def _read_prompts(folder: Path) -> None:
    from loadgen.driver.client.codec import Generation
    from loadgen.driver.client.protocols import codec_of
    from workloads.columns import Columns
    from workloads.errors import WorkloadError
    from workloads.prompts import load_prompts

    for columns in (Columns(weight="weight", output="output", tags=("tags",)), Columns()):
        try:
            dataset = load_prompts(_only(folder), columns)
        except WorkloadError:
            if columns == Columns():
                raise
            continue
        json.dumps(dict(dataset.facts)).encode()
        for sample in dataset.samples:
            codec_of("chat", {}).request(sample, Generation(model="m"))


def _read_trace(folder: Path) -> None:
    from workloads.traces.replayed import questions
    from workloads.traces.replayed_part import TracePart, read_trace

    trace = read_trace(_only(folder), TracePart(requests=5))
    questions(trace, 0, None, None, 0)


def _read_ruleset(folder: Path) -> None:
    from rulesets.loading import load, read

    path = folder / "rules.yaml"
    book = read(path)
    for entry in book.entries:
        for scenario in entry.scenarios:
            load(path, model=entry.name, scenario=scenario).to_dict()


def _read_suite(folder: Path) -> None:
    from loadgen.sessions.series.suite.matrix import Choice, matrix
    from loadgen.sessions.series.suite.mistakes import suite_of
    from loadgen.sessions.series.suite.source_lines import read

    source = read(folder / "suite.toml")
    suite = suite_of(source)
    matrix(source, suite, [], Choice((), (), (), min(suite.run.repeat, 3)))


def _read_stages(folder: Path) -> None:
    from loadgen.driver.arrivals.stages_file import read_stages

    read_stages(_only(folder))


def _import(name: str, folder: Path) -> None:
    from loadgen.plugins.imports.imported_log import import_results
    from loadgen.sessions.run.report_of_log import write_report

    number = 1 if name == "sglang-bench" else None
    write_report(import_results(name, folder / _import_paths[name], folder / "imported", number=number), None)


def _report(run: Path) -> None:
    from loadgen.sessions.formats import render
    from loadgen.sessions.run.report_of_log import opened_report
    from reporter.contents.run_contents import run_contents

    with opened_report(run, None) as (report, evidence):
        contents = run_contents(report, evidence)
        for form in ("text", "json", "html", "md", "csv"):
            render("report", form, report, contents=contents, command="loadgen report").encode()


def _query(run: Path) -> None:
    from reporter.log.all_events import rows
    from reporter.log.query import VIEWS, query
    from reporter.reporter import MetricsReporter

    query(run, "; ".join(f"FROM {view}" for view in VIEWS))
    list(rows(run))
    with MetricsReporter(run) as reporter:
        reporter.dump_results(run / "results.jsonl")


def _follow(run: Path) -> None:
    from reporter.live.growing_log import GrowingLog, followed_metrics
    from reporter.live.tail import LogTail
    from rulesets.definitions import Definitions

    tail = LogTail(run / "events.db")
    tail.read()
    assert tail.rates is None or tail.rates.span_s
    with GrowingLog(run, Definitions(), followed_metrics(Definitions())) as growing:
        growing.ended()


def _resume(run: Path) -> None:
    from loadgen.sessions.run.resumption import prepare_resumption, resumable
    from loadgen.sessions.settings.resume import ResumeSettings

    prepare_resumption(ResumeSettings(run=run), resumable(run))


def _replay(run: Path) -> None:
    from loadgen.sessions.run.replay import replayed_requests
    from workloads.traces.replayed_part import TracePart

    replayed_requests(run, TracePart())


def _compare(folder: Path) -> None:
    from loadgen.sessions.compare_runs import compare_runs
    from loadgen.sessions.formats import render
    from loadgen.sessions.settings.compare import CompareSettings

    comparison = compare_runs(CompareSettings(runs=[_run(), folder]))
    render("comparison", "text", comparison, plots=[])


def _list(folder: Path) -> None:
    from loadgen.plugins.viewing.run_table import row_of
    from loadgen.sessions.run_list import listed

    for run in listed(folder):
        assert row_of(run)


def _report_series(folder: Path) -> None:
    from loadgen.cli.report_series import show_series

    _list(folder)
    show_series(folder, "csv", folder / "series.csv")
    show_series(folder, "html", folder / "series.html")


def _archive_log(run: Path) -> None:
    from reporter.archive.write import archive

    archive(run, run / "archive", "1")


READERS: Final[Mapping[str, tuple[Callable[[Path, random.Random], None], Callable[[Path], None]]]] = {
    "prompts": (_prompts, _read_prompts),
    "trace": (_trace, _read_trace),
    "ruleset": (_ruleset, _read_ruleset),
    "suite": (_suite, _read_suite),
    "stages": (_stages, _read_stages),
    **{
        f"import_{name}": (partial(_harness, name), partial(_import, name))
        for name in (
            *(
                "deepplanning",
                "harbor",
                "lifelong-agent",
                "pinchbench",
                "swefficiency",
                "terminalbench-native",
            ),
            *(
                "webchorearena",
                "workarena",
                "aiperf",
                "guidellm",
                "inference-perf",
                "sglang-bench",
                "vllm-bench",
            ),
        )
    },
    "log_report": (_log, _report),
    "log_query": (_log, _query),
    "log_follow": (_log, _follow),
    "log_resume": (_cut_off, _resume),
    "log_replay": (_run_log, _replay),
    "log_archive": (_log, _archive_log),
    "archive": (partial(_copied, _archive), _report),
    "run_compare": (partial(_copied, _run), _compare),
    "run_list": (partial(_copied, _run), _list),
    "series": (partial(_copied, _series), _report_series),
}
"""By the name: what makes valid files, and what reads them."""
