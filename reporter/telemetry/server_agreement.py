"""Whether client and server agree on what both have measured.

A count must be the same. A time is longer for the client, by the network and what is in front of the server's
own clock; up to `LONGER_MS` or `LONGER_SHARE` of it is taken for that. TPOT and ITL are the same for both, up
to `PACE_MS` or `PACE_SHARE`. Where the client read late, its time has two bounds, and the nearer one counts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import all_figures, figures
from reporter.values.server_side import INPUTS, ServerSide, SideBySide

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.log.database import OpenLog

LONGER_MS: Final = 5.0
"""How much longer a mean may be for the client."""

LONGER_SHARE: Final = 0.1
"""Or as a share of the server's."""

SHORTER_MS: Final = 1.0
"""How much shorter: clocks that begin a little earlier than the last byte of a request arrives."""

PACE_MS: Final = 0.5
"""How much longer or shorter a mean TPOT or ITL may be for the client."""

PACE_SHARE: Final = 0.1
"""Or as a share of the server's."""

TABLES: Final = ("sensor_readings", "sensors", "server_metrics")
"""What of the log is needed."""


def server_side(log: OpenLog) -> ServerSide | None:
    """What the server says of a run; None where its metrics were not recorded."""
    pages = [
        str(url)
        for (url,) in log.execute(
            "SELECT DISTINCT data ->> '$.target' AS url FROM session_events "
            "WHERE type = 'SENSOR_STARTED' AND data ->> '$.source' = 'server' ORDER BY url"
        ).fetchall()
    ]
    if not pages:
        return None
    both = figures(log, "server_side")
    failed = {
        row["error"]: row["readings"]
        for row in all_figures(log, "sensor_errors")
        if row["source"] == "server"
    }
    named = log.execute("SELECT server FROM server_metrics WHERE server IS NOT NULL LIMIT 1").fetchone()
    engine = str(named[0]) if named else None
    preemptions = both["preemptions"]
    return ServerSide(
        engine=engine,
        pages=pages,
        readings=both["readings"],
        failed=failed,
        preemptions=None if preemptions is None else round(preemptions),
        compared=[_by_inputs(log, row) for row in _compared(both, _buckets(log), engine)]
        if both["read_throughout"]
        else [],
        stopped_s=both["stopped_s"] if both["readings"] else None,
        **{name: both[name] for name in _GAUGES},
    )


_REQUESTS: Final = "completed requests"

_HAS_INPUTS: Final = "SELECT settings ->> '$.dataset.facts.inputs' IS NOT NULL FROM session"


def _by_inputs(log: OpenLog, row: SideBySide) -> SideBySide:
    """Completed inputs in place of requests, where a server counts each input of a batch, as vLLM does."""
    if row.quantity != _REQUESTS or row.agrees or not log.execute(_HAS_INPUTS).fetchall()[0][0]:
        return row
    log.load(["vectors"])
    inputs = figures(log, "completed_inputs")["completed_inputs"]
    return next((each for each in _count(INPUTS, inputs, row.server) if each.agrees), row)


_GAUGES: Final = (
    *("running_mean", "running_max", "waiting_mean", "waiting_max"),
    *("kv_cache_usage_max_pct", "prefix_hit_pct", "in_server_mean", "client_in_flight_max"),
    "measured_prefix_hit_pct",
)


def _compared(
    both: Mapping[str, Any], buckets: list[tuple[float, int]], engine: str | None
) -> Iterator[SideBySide]:
    yield from _count(_REQUESTS, both["client_completed"], both["server_completed"])
    # A server counts the tokens of a request that did not complete; the client has no count of them.
    if not both["client_others"]:
        if not both["without_prompt_tokens"]:
            # Older versions of llama.cpp do not count the prompt tokens that were in the cache.
            whole = engine != "llama.cpp" or both["prefix_hit_pct"] is not None
            for row in _count("prompt tokens", both["client_prompt_tokens"], both["server_prompt_tokens"]):
                yield row if whole or (row.difference or 0) < 0 else replace(row, agrees=row.agrees or None)
        if not both["without_output_tokens"]:
            yield from _count("output tokens", both["client_output_tokens"], both["server_output_tokens"])
    yield from _time("TTFT mean (ms)", _client(both, "ttft"), both["server_ttft_ms"])
    for quantity, share in (("p50", 0.5), ("p99", 0.99)):
        yield from _percentile(f"TTFT {quantity} (ms)", _client(both, f"ttft_{quantity}"), buckets, share)
    yield from _paces(both)
    yield from _time("latency mean (ms)", _client(both, "latency"), both["server_latency_ms"])
    if (queue_ms := both["server_queue_ms"]) is not None:
        ttft_ms = both["client_ttft_ms"]
        # A client cannot see the queue; but nothing waits there longer than for its first token.
        agrees = None if ttft_ms is None or queue_ms <= ttft_ms + SHORTER_MS else False
        yield SideBySide("time in queue mean (ms)", None, queue_ms, agrees=agrees)


def _paces(both: Mapping[str, Any]) -> Iterator[SideBySide]:
    """TPOT and ITL, which agree where both sides have the same requests and gaps.

    The server's gaps have the end-of-sequence token of each request, for which the client may have no chunk.
    """
    tpots, gaps = both["client_tpot_requests"] or 0, both["client_itl_gaps"] or 0
    server_gaps = both["server_itl_gaps"] or 0
    is_same = {
        "tpot": tpots == both["server_tpot_requests"],
        "itl": 0 <= server_gaps - gaps <= max(PACE_SHARE * server_gaps, both["client_completed"] or 0),
    }
    for name, same in is_same.items():
        client_ms, server_ms = _client(both, name), both[f"server_{name}_ms"]
        if client_ms is not None and server_ms is not None:
            high_ms = max(client_ms[1], both[f"client_{name}_high_ms"])
            difference = _nearest((client_ms[0], high_ms), server_ms, server_ms)
            agrees = abs(difference) <= max(PACE_MS, PACE_SHARE * server_ms)
            yield _row(
                f"{name.upper()} mean (ms)", client_ms, server_ms, difference, agrees=agrees if same else None
            )


def _client(both: Mapping[str, Any], name: str) -> tuple[float, float] | None:
    """The least and the most that a time of the client can be, in ms; None where it has none."""
    low, high = both[f"client_{name}_low_ms"], both[f"client_{name}_ms"]
    return None if high is None else (high if low is None else min(low, high), high)


def _count(quantity: str, client: float | None, server: float | None) -> Iterator[SideBySide]:
    if client is not None and server is not None:
        difference = float(client - server)
        share = difference / server if server else None
        yield SideBySide(
            quantity,
            float(client),
            float(server),
            difference=difference,
            share=share,
            agrees=round(difference) == 0,
        )


def _time(
    quantity: str, client_ms: tuple[float, float] | None, server_ms: float | None
) -> Iterator[SideBySide]:
    if client_ms is not None and server_ms is not None:
        difference = _nearest(client_ms, server_ms, server_ms)
        yield _row(quantity, client_ms, server_ms, difference, agrees=_agree(difference, server_ms))


def _row(
    quantity: str, client_ms: tuple[float, float], server_ms: float, difference: float, *, agrees: bool | None
) -> SideBySide:
    return SideBySide(
        quantity,
        client_ms[1],
        server_ms,
        difference=difference,
        share=difference / server_ms if server_ms else None,
        agrees=agrees,
        client_low=client_ms[0] if client_ms[0] < client_ms[1] else None,
    )


def _percentile(
    quantity: str, client_ms: tuple[float, float] | None, buckets: list[tuple[float, int]], share: float
) -> Iterator[SideBySide]:
    """A percentile, which a histogram says to lie between the ends of a bucket."""
    total = buckets[-1][1] if buckets else 0
    if client_ms is None or not total:
        return
    rank = math.ceil(share * total)
    low_ms, high_ms = 0.0, math.inf
    for bound_s, upto in buckets:
        if upto >= rank:
            high_ms = 1e3 * bound_s
            break
        low_ms = 1e3 * bound_s
    difference = _nearest(client_ms, low_ms, high_ms)
    yield SideBySide(
        quantity,
        client_ms[1],
        None,
        server_low=low_ms,
        server_high=None if math.isinf(high_ms) else high_ms,
        difference=difference,
        agrees=_agree(difference, high_ms),
        client_low=client_ms[0] if client_ms[0] < client_ms[1] else None,
    )


def _nearest(client_ms: tuple[float, float], low_ms: float, high_ms: float) -> float:
    """The difference between two intervals: 0 where they meet."""
    return max(0.0, client_ms[0] - high_ms) or min(0.0, client_ms[1] - low_ms)


def _agree(difference: float, server_ms: float) -> bool:
    return -SHORTER_MS <= difference <= max(LONGER_MS, LONGER_SHARE * server_ms)


def _buckets(log: OpenLog) -> list[tuple[float, int]]:
    """The upper bounds in s, with how many requests are below; empty where counts contradict each other."""
    rows = []
    for row in all_figures(log, "server_buckets"):
        try:
            rows.append((float(row["bound"]), int(row["requests"])))
        except ValueError:
            return []
    rows.sort()
    counts = [count for _, count in rows]
    return rows if rows and math.isinf(rows[-1][0]) and counts == sorted(counts) else []
