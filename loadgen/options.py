"""The keyword arguments of `loadgen.perf` and the other functions, as types.

Generated from the settings of the command line: change those, and run `make golden`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from loadgen.shared_options import RunOptions, ScoringOptions, SessionOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class PerfOptions(RunOptions, total=False):
    """The keyword arguments of `loadgen.perf`."""

    task: str | Sequence[str] | None
    """Send the questions of a benchmark (see loadgen list tasks), or of a file with user_prompt and
    ground_truth, and score the answers afterwards; repeatable.
    """


class AccuracyOptions(RunOptions, total=False):
    """The keyword arguments of `loadgen.accuracy`."""

    prices: str | Path | None
    """What tokens cost, in YAML: tell the cost of the run in dollars (docs/costs.md)."""


class SweepOptions(SessionOptions, total=False):
    """The keyword arguments of `loadgen.sweep`."""

    concurrency: str | None
    """Closed loop: a run for each of these numbers of requests in flight, or FIRST:LAST:STEP."""
    rate: str | None
    """Open loop: a run for each of these rates, or FIRST:LAST:STEP."""
    max_concurrency: int | None
    """With --rate: at most N requests in flight; others wait, which latency incl. queueing has."""
    stages: str | None
    """Open loop: a YAML, JSON, TOML or CSV file of stages, each with a duration and a rate."""
    trace: str | None
    """Open loop: the requests of a trace, or of an earlier run, at their times."""
    trace_speed: float | None
    """Replay --trace FACTOR times as fast."""
    trace_format: str | None
    """Format of --trace, unit of its times (s, ms, us, ns), tokens per block: mooncake,unit=s. Default:
    found out from the first lines.
    """
    offline: bool | None
    """Send all requests at once."""
    requests: int | None
    """Number of measured requests. Default: each prompt once (synthetic: 100)."""
    sessions: int | None
    """Number of measured conversations, where prompts are conversations; instead of --requests."""
    passes: int | None
    """Send each prompt N times; instead of --requests."""
    duration: float | str | None
    """Measure for this time: 60, 90s, 5m. With --requests, whichever ends first."""
    stop_on_overload: bool | None
    """Open loop: end the run when the endpoint falls further and further behind."""
    steady: bool | None
    """The run is invalid unless a steady state is found."""
    task: str | Sequence[str] | None
    """Send the questions of a benchmark (see loadgen list tasks), or of a file with user_prompt and
    ground_truth, and score the answers afterwards; repeatable.
    """
    repeats: int | None
    """Send each question N times, for pass@k and narrower intervals."""
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<500ms'; repeatable. Exit 1 if missed."""
    abort_on_fail: bool | None
    """End the run, with exit 1, as soon as it certainly misses a target."""
    percentiles: str | None
    """Percentiles to report, e.g. 50,75,99.9."""
    out: str | Path | None
    """The folder of all runs; runs/<time>-sweep by default."""
    vary: str | Sequence[str] | None
    """A run for each value of any option, e.g. max-tokens=64,128; semicolons separate values that have
    commas in them. Repeatable: every combination.
    """
    cooldown: float | str | None
    """The pause between two runs."""
    plot: bool | None
    """Draw pareto.svg; needs the extra `plot`."""


class SearchOptions(SessionOptions, total=False):
    """The keyword arguments of `loadgen.search`."""

    concurrency: str | None
    """Search a number of users in a closed loop instead."""
    rate: str | None
    """Search a rate; either end can be left out. The default, from 1."""
    task: str | Sequence[str] | None
    """Send the questions of a benchmark (see loadgen list tasks), or of a file with user_prompt and
    ground_truth, and score the answers afterwards; repeatable.
    """
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<2s'; repeatable."""
    out: str | Path | None
    """The folder of all trials; runs/<time>-search by default."""
    within: float | str | None
    """The precision: how close the highest load that passes and the lowest that fails must be."""
    point_duration: float | str | None
    """The least duration of a thorough trial; it is longer where answers take long, or where a percentile
    needs more requests.
    """
    budget: float | str | None
    """The time budget of the search."""
    cooldown: float | str | None
    """The pause between two trials."""


class ScoreOptions(ScoringOptions, total=False):
    """The keyword arguments of `loadgen.score`."""

    reparse: bool | None
    """Call no judge, and read existing replies again; with --judge-model only those of that one."""
    grader_timeout: float | str | None
    """The most that grading one answer may take, ten times as much where programs are run."""
    processes: int | None
    """Number of grading processes, with --ray on each node. Default: one per core."""
    data: str | Path | None
    """A folder with models that graders need and that are not installed: nltk_punkt for ifeval."""
    ray: str | None
    """Grade on the nodes of a Ray cluster: the one that this machine belongs to, or that of an address."""
    nodes: int | None
    """With --ray: the number of nodes. Default: all nodes with CPUs."""
    pass_number: int | None
    """Score nothing, and report this earlier pass."""
    prices: str | Path | None
    """What tokens cost, in YAML: tell the cost of the run in dollars (docs/costs.md)."""
    on_invalid: Literal["fail", "warn"] | None
    """A run that only this client or its machine made invalid: fail (exit 4), or warn (shown as accepted,
    and judged). Default: as the run was started.
    """


class GateOptions(TypedDict, total=False):
    """The keyword arguments of `Run.gate`."""

    ruleset: str | None
    """A ruleset: NAME[@VERSION] (see loadgen list rulesets) or a YAML file."""
    scenario: str | None
    """The scenario of the ruleset. Default: the one for the run's model and load."""
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<500ms', in addition to the ruleset's. Repeatable."""
    skip: str | Sequence[str] | None
    """Leave a rule, or a group of them, out; the verdict says so. Repeatable."""
    on_invalid: Literal["fail", "warn"] | None
    """A run that only this client or its machine made invalid: fail (exit 4), or warn (shown as accepted,
    and judged). Default: as the run was started.
    """
    baseline: str | Sequence[str] | None
    """The baseline of changes: a run, its report.json, or a folder of runs. Repeatable."""
    also: str | Path | Sequence[str | Path] | None
    """Another run with the same settings, for rules about changes. Repeatable."""
    accuracy: str | Path | None
    """The run that was scored, or a JSON file of scores."""
    audit: str | Path | None
    """The results of audits of the run."""
    power: str | None
    """The power of the system: provisioned, nvml or wall, and a figure, e.g. wall:5200."""
    c_max: int | None
    """The greatest concurrency of a sweep, as declared: for rules with regions. Default: that of its
    greatest point.
    """
    c_min: int | None
    """Where Ultra Low ends in a sweep, as declared (c_min_override): for rules with regions. Default: its
    lowest point.
    """
    tokenizer: str | None
    """Count tokens with it where the server did not."""
