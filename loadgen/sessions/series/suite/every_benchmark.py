"""`loadgen run --all`: a suite of every benchmark that can be asked here, for one model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite.mistakes import suite_of
from loadgen.sessions.series.suite.source_lines import SuiteSource
from workloads.catalog import names, workload
from workloads.errors import PluginError
from workloads.needs import needs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.series.suite.suite_model import Suite
    from workloads.needs import Need
    from workloads.workload import Workload

NAME: Final = "all"


def suite_of_all(
    model: str | None, url: str | None, options: Mapping[str, Any]
) -> tuple[SuiteSource, Suite, list[str]]:
    """The suite of every benchmark.

    A benchmark is left out that needs what is not here: its data, where it cannot be fetched either, a
    package, a container daemon, or a judge or the permission to run code, where the options give none.

    Returns:
        The source, for messages; the suite; and why each of the others is left out.
    """
    if model is None:
        raise UsageError("--all asks every benchmark of one model: name it with --model")
    benchmarks, left_out = [], []
    for name in names():
        try:
            missing = _missing(workload(name), options)
        except PluginError as error:
            missing = str(error)
        if missing is None:
            benchmarks.append({"name": name})
        else:
            left_out.append(f"{name} is left out: {missing}")
    if not benchmarks:
        raise UsageError(f"--all: no benchmark can be asked here: {'; '.join(left_out)}")
    tables = {
        "meta": {"name": NAME},
        "defaults": {} if url is None else {"url": url},
        "models": [{"name": model}],
        "benchmarks": benchmarks,
    }
    source = SuiteSource(Path(f"--{NAME}"), "", tables)
    return source, suite_of(source), left_out


def _missing(benchmark: Workload, options: Mapping[str, Any]) -> str | None:
    """The first thing that a benchmark needs and that is not here; None where nothing is missing."""
    wanted = needs(benchmark, options.get("data"))
    can_fetch = options.get("data") is None and bool(benchmark.source.hub or benchmark.source.urls)
    return next((need.about for need in wanted if _is_missing(need, options, can_fetch=can_fetch)), None)


def _is_missing(need: Need, options: Mapping[str, Any], *, can_fetch: bool) -> bool:
    if need.kind == "data":
        return not need.met and not can_fetch
    if need.kind == "judge":
        return not options.get("judge_url")
    if need.kind == "code":
        return not options.get("allow_code_execution")
    return need.met is False
