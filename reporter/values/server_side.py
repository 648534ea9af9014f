"""The server's account of a run: `server` in report.json."""

from __future__ import annotations

from typing import Final

from lazy_dataclasses import dataclass, field

INPUTS: Final = "completed inputs"
"""What is compared where a server counts each input of a batch as a request."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One quantity as the client measured it, and as the server did.

    Both are over all requests from the first reading of the metrics to the last one, warm-up included.

    Attributes:
        client: By the client; None where a client cannot see it.
        client_low: The least that it can be, where the client read late; None where that is `client`.
        server: By the server; of a percentile None, for a histogram only bounds it.
        server_low: The lower end of the bucket that a percentile is in.
        server_high: Its upper end; None for the last bucket, which has none.
        difference: Client minus server, or minus the nearer end of the bucket. Where it is in doubt, the one
            that is nearest to 0.
        share: That, as a share of the server's.
        agrees: Whether they agree as far as they should; None where that cannot be said.
    """

    quantity: str
    client: float | None
    server: float | None
    server_low: float | None = None
    server_high: float | None = None
    difference: float | None = None
    share: float | None = None
    agrees: bool | None = None
    client_low: float | None = None


@dataclass(frozen=True, slots=True)
class ServerSide:
    """What the server's metrics say of the run; None for what its page does not have.

    Attributes:
        engine: Whose names the page has: `vllm`, `sglang`, `tgi`, `tensorrt_llm`, `llama.cpp`, `triton`.
        pages: Where they were read.
        failed: How often it did not, by reason.
        stopped_s: How long after the first request the last reading succeeded, where all later ones failed.
        running_mean: Requests that it processed, over the readings.
        waiting_mean: Requests that waited in it.
        prefix_hit_pct: Prompt tokens that were in its prefix cache, of those it looked up.
        compared: What client and server both measured; empty where a page was not read both before the first
            request and after the last one.
        in_server_mean: Requests that it processed or that waited in it, over the readings.
        client_in_flight_max: Most requests of the client at once.
    """

    engine: str | None
    pages: list[str]
    readings: int
    failed: dict[str, int]
    running_mean: float | None = None
    running_max: float | None = None
    waiting_mean: float | None = None
    waiting_max: float | None = None
    kv_cache_usage_max_pct: float | None = None
    preemptions: int | None = None
    prefix_hit_pct: float | None = None
    compared: list[SideBySide] = field(default_factory=list)
    stopped_s: float | None = None
    in_server_mean: float | None = None
    client_in_flight_max: float | None = None
    measured_prefix_hit_pct: float | None = None
