"""`loadgen compare`: logs of servers whose difference is known, and reports of many."""

from __future__ import annotations

import json
from heapq import heappop, heappush
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from loadgen.cli.compare import compare
from loadgen.cli.typer_application import application
from loadgen.sessions.error_exit_codes import exit_code
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.compare import CompareSettings
from reporter.errors import ReporterError
from tests.conftest import clean_environment
from tests.reporter.conftest import Run

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.preloaded import Preloaded

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

MEDIAN = ("--metric", "ttft:p(50)", "--metric", "output_tps")


def closed_loop(run: Run, ttft_ms: tuple[float, float], itl_ms: float, concurrency: int) -> Run:
    """224 requests of four tokens, as a closed loop asks them: each user's next when its last has ended."""
    random = Random(5)  # noqa: S311 (a simulation, not a secret)
    run.begins()
    free_at = [0.0] * concurrency
    for number in range(224):
        issued = heappop(free_at)
        first = issued + random.uniform(*ttft_ms)
        arrivals = [first + itl_ms * token for token in range(4)]
        run.answers(*arrivals, at_ms=issued, uuid=f"request {number}", usage=(10, 4))
        heappush(free_at, arrivals[-1])
    return run.stops(max(free_at)).ends(max(free_at))


@pytest.fixture(scope="module")
def runs(preloaded: Preloaded, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same server twice, and one that is a fifth slower, asked by fewer users."""
    folder = tmp_path_factory.mktemp("runs")
    for name, ttft_ms, itl_ms, users in (
        ("once", (60, 180), 2.0, 32),
        ("again", (60, 180), 2.0, 32),
        ("slower", (72, 216), 2.4, 28),
    ):
        (folder / name).mkdir()
        load = {"kind": "closed", "concurrency": users}
        closed_loop(Run(folder / name, {"model": "m", "load": load}), ttft_ms, itl_ms, users).write()
        report = preloaded.run("report", name, "--json", cwd=folder, env=clean_environment())
        (folder / name / "report.json").write_text(report.stdout)
    return {name: folder / name for name in ("once", "again", "slower")}


def rows(printed: str) -> dict[str, Any]:
    """What --json says, by metric."""
    return {row["metric"]: row for row in json.loads(printed)["rows"]}


def test_the_same_server_twice_does_not_differ(loadgen: Loadgen, runs: dict[str, Path]) -> None:
    """And that is the answer, with the smallest detectable change; nothing is unlike."""
    done = loadgen("compare", runs["once"], runs["again"], *MEDIAN, "--json")
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout)["ttft:p(50)"]["changes"][0]["finding"] == "no significant difference"
    assert rows(done.stdout)["ttft:p(50)"]["changes"][0]["detectable"] is not None
    assert json.loads(done.stdout)["unlike"] == []


def test_a_server_that_is_a_fifth_slower_is_found(
    loadgen: Loadgen, runs: dict[str, Path], tmp_path: Path
) -> None:
    """It fails, and what was not alike is named; as Markdown and as a plot, too.

    Tails and generation speed are rows by default, with a figure of either run and their change.
    """
    done = loadgen(
        *("compare", runs["once"], runs["slower"], "--markdown", "found.md", "--plot", "found.svg"),
    )
    assert done.returncode == 1, done.stderr
    # Without blanks: where lines break depends on the length of the path.
    assert f"ttft:meanof{runs['slower']}isworse" in "".join(done.stdout.split())
    assert "load.concurrency = 28" in done.stdout
    assert "not how runs vary" in " ".join(done.stdout.split())
    assert "| ttft:p(50) |" in (tmp_path / "found.md").read_text()
    assert ">ttft:p(50)<" in (tmp_path / "found.svg").read_text()
    for name in ("ttft:p(95)", "latency:p(95)", "generation_tps:mean"):
        figures, change = (line.split() for line in done.stdout.splitlines() if line.startswith(name))
        assert float(figures[2].replace(",", "")) > 0
        assert change[-1] != "-"


def test_of_reports_alone_nothing_can_be_tested(loadgen: Loadgen, runs: dict[str, Path]) -> None:
    """The note says how to get more; with --strict, runs of another load are not compared."""
    reports = [run / "report.json" for run in (runs["once"], runs["slower"])]
    done = loadgen("compare", *reports)
    assert done.returncode == 5
    assert "compare runs with logs and at least 8 requests each" in " ".join(done.stdout.split())
    strict = loadgen("compare", *reports, "--strict", "--json")
    assert strict.returncode == 4
    assert json.loads(strict.stdout)["status"] == "INVALID"


@pytest.fixture
def reports(runs: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """A folder of reports, as a CI job may keep them, each a percent or so off a speed."""

    def make(name: str, count: int, speed: float = 1.0) -> Path:
        random = Random(name)  # noqa: S311 (a simulation, not a secret)
        folder = tmp_path / name
        folder.mkdir()
        report = json.loads((runs["once"] / "report.json").read_text())
        for number in range(count):
            report["throughput"]["output_tps"] = 1000 * speed * random.gauss(1, 0.01)
            (folder / f"{number}.json").write_text(json.dumps(report))
        return folder

    return make


@pytest.mark.parametrize(("count", "speed", "code"), [(5, 0.9, 1), (5, 0.975, 0), (3, 0.9, 5)])
def test_several_runs_a_side_are_tested(
    count: int, speed: float, code: int, loadgen: Loadgen, reports: Callable[..., Path]
) -> None:
    """Slower; slower by less than 3 %; and three a side, of which p is never below 0.1."""
    old, new = reports("old", count), reports("new", count, speed)
    done = loadgen("compare", new, "--baseline", old, "--metric", "output_tps", "--json")
    assert done.returncode == code, done.stdout + done.stderr
    comparison = json.loads(done.stdout)
    assert comparison["test"] == "mann_whitney"
    assert [len(side["runs"]) for side in comparison["sides"]] == [count, count]
    if code == 5:
        assert "give 4 runs per side" in comparison["reasons"][0]


def test_folders_of_runs_are_sides_and_a_baseline_may_be_named_run_by_run(
    loadgen: Loadgen, reports: Callable[..., Path]
) -> None:
    """The same comparison, written in two ways."""
    old, new = reports("old", 4), reports("new", 4)
    one_by_one = [argument for run in sorted(old.iterdir()) for argument in ("--baseline", run)]
    folders = loadgen("compare", old, new, "--metric", "output_tps", "--json")
    named = loadgen("compare", *sorted(new.iterdir()), *one_by_one, "--metric", "output_tps", "--json")
    assert folders.returncode == named.returncode == 0
    assert json.loads(folders.stdout)["rows"][0]["changes"][0]["p"] is not None
    assert json.loads(folders.stdout)["rows"][0]["figures"] == json.loads(named.stdout)["rows"][0]["figures"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": ["run"]}, "run): name a second one, or add --baseline RUN"),
        ({"runs": ["run", "run/events.db"]}, "run/events.db: named twice, also as "),
        ({"runs": ["run"], "baseline": ["run"]}, "run: named twice, also as "),
        ({"runs": ["run", "nowhere"]}, "nowhere: no run folder has this name"),
        ({"metric": ["ttft:p99x"]}, "'ttft:p99x': ttft has no statistic"),
        ({"alpha": 2.0}, "--alpha 2: a probability between 0 and 1 is needed"),
        ({"runs": ["other.json", "run"]}, "other.json: not a report.json of this program"),
        ({"runs": ["newer.json", "run"]}, "newer.json: a report of format 99, and this version reads 1"),
    ],
)
def test_bad_input_is_refused(
    options: dict[str, Any], message: str, runs: dict[str, Path], tmp_path: Path
) -> None:
    """With the name of what is wrong, and what to do."""
    (tmp_path / "run").symlink_to(runs["once"])
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "newer.json").write_text('{"run": {}, "counts": {}, "schema_version": 99}')
    paths = {
        key: [tmp_path / name for name in options.get(key, default)]
        for key, default in (("runs", ["run", "other.json"]), ("baseline", []))
    }
    settings = CompareSettings(**(options | paths))
    with pytest.raises((UsageError, ReporterError)) as raised:
        compare(settings)
    assert exit_code(raised.value) == 2
    assert message in str(raised.value)


def test_a_metric_that_no_run_has_is_refused(runs: dict[str, Path]) -> None:
    """A tag that is misspelt must not pass for a metric without a difference."""
    report = runs["once"] / "report.json", runs["slower"] / "report.json"
    settings = CompareSettings(runs=list(report), metric=["ttft{regoin:eu}:p(50)", "output_tps"])
    with pytest.raises(UsageError, match=r"--metric ttft\{regoin:eu\}:p\(50\): none of these runs"):
        compare(settings)


def test_an_invalid_share_is_refused(loadgen: Loadgen) -> None:
    """Like any option that cannot be read."""
    done = loadgen("compare", "a", "b", "--min-effect", "much")
    assert done.returncode == 2
    assert "'much' is not a share" in done.stderr


def test_a_default_is_shown_as_it_is_typed() -> None:
    """In the help, without added brackets."""
    page = " ".join(CliRunner().invoke(application("compare"), ["compare", "--help"]).output.split())
    assert "Default: 3%." in page
    assert "(3%)" not in page
