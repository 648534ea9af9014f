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
    """Send and score a benchmark (loadgen list tasks), or a file with user_prompt and ground_truth;
    repeatable.
    """


class AccuracyOptions(RunOptions, total=False):
    """The keyword arguments of `loadgen.accuracy`."""

    prices: str | Path | None
    """Token prices, in YAML: report the cost of the run in dollars (docs/costs.md)."""


class SweepOptions(SessionOptions, total=False):
    """The keyword arguments of `loadgen.sweep`."""

    concurrency: str | None
    """Closed loop: a run for each of these numbers of requests in flight, or FIRST:LAST:STEP."""
    rate: str | None
    """Open loop: a run for each of these rates, or FIRST:LAST:STEP."""
    max_concurrency: int | None
    """With --rate: at most N requests in flight; the rest queue; "latency, incl. queueing" includes that
    wait.
    """
    stages: str | None
    """Open loop: a YAML, JSON, TOML or CSV file of stages, each with a duration and a rate."""
    trace: str | None
    """Open loop: replay the requests of a trace, or of an earlier run, at the recorded times."""
    trace_speed: float | None
    """Replay --trace FACTOR times as fast."""
    trace_format: str | None
    """Format of --trace, time unit (s, ms, us, ns), tokens per block: mooncake,unit=s. Default: detected
    from the first lines.
    """
    offline: bool | None
    """Send all requests at once."""
    requests: int | None
    """Number of measured requests. Default: each prompt once (synthetic: 100)."""
    sessions: int | None
    """Number of measured conversations, for prompts that are conversations; instead of --requests."""
    passes: int | None
    """Send each prompt N times; instead of --requests."""
    duration: float | str | None
    """Measure for this time: 60, 90s, 5m. With --requests, whichever ends first."""
    stop_on_overload: bool | None
    """Open loop: end the run when the endpoint falls further and further behind."""
    steady: bool | None
    """The run is invalid unless a steady state is found."""
    task: str | Sequence[str] | None
    """Send and score a benchmark (loadgen list tasks), or a file with user_prompt and ground_truth;
    repeatable.
    """
    repeats: int | None
    """Send each question N times, for pass@k and narrower intervals."""
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<500ms'; repeatable. Exit 1 if missed."""
    abort_on_fail: bool | None
    """End the run, with exit 1, as soon as a target is certain to be missed."""
    percentiles: str | None
    """Percentiles to report, e.g. 50,75,99.9."""
    out: str | Path | None
    """The folder of all runs; runs/<time>-sweep by default."""
    vary: str | Sequence[str] | None
    """One run for each value of any option, e.g. max-tokens=64,128; separate values that contain commas by
    semicolons. Repeatable: every combination.
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
    """Send and score a benchmark (loadgen list tasks), or a file with user_prompt and ground_truth;
    repeatable.
    """
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<2s'; repeatable."""
    out: str | Path | None
    """The folder of all trials; runs/<time>-search by default."""
    within: float | str | None
    """The precision: how close the highest load that passes and the lowest that fails must be."""
    point_duration: float | str | None
    """Minimum duration of a thorough trial; longer for long answers, or if a percentile needs more
    requests.
    """
    budget: float | str | None
    """The time budget of the search."""
    cooldown: float | str | None
    """The pause between two trials."""


class ScoreOptions(ScoringOptions, total=False):
    """The keyword arguments of `loadgen.score`."""

    reparse: bool | None
    """Call no judge, and parse existing replies again; with --judge-model only that model's."""
    grader_timeout: float | str | None
    """Time limit for grading one answer; ten times as long for scorers that run programs."""
    processes: int | None
    """Number of grading processes, with --ray on each node. Default: one per core."""
    data: str | Path | None
    """A folder with models that graders need and that are not installed: nltk_punkt for ifeval."""
    ray: str | None
    """Grade on the nodes of a Ray cluster: on this machine, or at an address."""
    nodes: int | None
    """With --ray: the number of nodes. Default: all nodes with CPUs."""
    pass_number: int | None
    """Score nothing, and report this earlier pass."""
    prices: str | Path | None
    """Token prices, in YAML: report the cost of the run in dollars (docs/costs.md)."""
    on_invalid: Literal["fail", "warn"] | None
    """If only the client invalidated the run: fail (exit 4), or warn and evaluate the run anyway. Default:
    as the run was started.
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
    """Skip a rule or a group of rules; the verdict lists skipped rules. Repeatable."""
    on_invalid: Literal["fail", "warn"] | None
    """If only the client invalidated the run: fail (exit 4), or warn and evaluate the run anyway. Default:
    as the run was started.
    """
    baseline: str | Sequence[str] | None
    """The baseline of changes: a run, a report.json, or a folder of runs. Repeatable."""
    also: str | Path | Sequence[str | Path] | None
    """A further run with equal settings, for rules about changes. Repeatable."""
    accuracy: str | Path | None
    """The run that was scored, or a JSON file of scores."""
    audit: str | Path | None
    """The results of audits of the run."""
    power: str | None
    """The power of the system: provisioned, nvml or wall, and a figure, e.g. wall:5200."""
    c_max: int | None
    """The declared greatest concurrency of a sweep, for rules with regions. Default: the greatest point."""
    c_min: int | None
    """The declared end of Ultra Low in a sweep (c_min_override), for rules with regions. Default: the
    lowest point.
    """
    tokenizer: str | None
    """Tokenizer for token counts that the server did not send."""
