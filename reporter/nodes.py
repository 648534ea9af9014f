"""The nodes of a run of several machines: `nodes` in report.json, key by key."""

from __future__ import annotations

from lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A node: its clock, what it issued, and how it was doing.

    Attributes:
        state: How its log ended: as `run.ended`, or `missing` where there is none.
        clock_shift_ms: What was added to its times for the coordinator's clock.
        clock_uncertainty_ms: How far that may be off; None where its clock was never read.
        clock_is_steady: Whether the readings agree, but for a drift of 200 ppm.
        in_flight: Those without an end in the log.
        qps: Its requests that completed in the window, per second of that; None without a window.
        seconds: In how many seconds a request of the node was due.
        seconds_behind: In how many of them too few left in time (reporter/sql/figures/issuing.sql).
        loop_lag_max_ms: The longest lateness of the event loop of one of them.
        cpu_share_max: The greatest mean share of a core of one of them.
        held_up_ms: How long issuing was held up by the log, in all.
        longest_wait_ms: The longest that an event waited for the end of its commit.
    """

    node: str
    state: str
    clock_shift_ms: float | None
    clock_uncertainty_ms: float | None
    clock_readings: int
    clock_is_steady: bool
    issued: int
    completed: int
    failed: int
    cancelled: int
    in_flight: int
    qps: float | None
    ttft_p99_ms: float | None
    seconds: int
    seconds_behind: int
    issue_lag_p99_ms: float | None
    workers: int
    loop_lag_max_ms: float | None
    cpu_share_max: float | None
    held_up_ms: float | None
    events: int | None
    lost: int | None
    longest_wait_ms: float | None


@dataclass(frozen=True, slots=True)
class Nodes:
    """All nodes, and what the uncertainty of their clocks means for figures over all of them.

    Latencies are from one clock each, and exact.

    Attributes:
        clock_uncertainty_ms: The greatest of a node's; None where the clock of one was never read.
        qps_low: The least that `throughput.qps` can be, as completions near the window's ends may belong to
            either side of them; None where that is not known.
        output_tps_low: The same of `throughput.output_tps`, by the chunks near the window's ends.
        total_tps_low: The same of `throughput.total_tps`.
    """

    clock_uncertainty_ms: float | None
    qps_low: float | None
    qps_high: float | None
    output_tps_low: float | None
    output_tps_high: float | None
    total_tps_low: float | None
    total_tps_high: float | None
    each: tuple[NodeReport, ...]
