"""The metrics of a report's plug-in sections: a part of `rulesets.metric_table`."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from rulesets.quantity import LEVEL, SHARE_LEVEL, TIME, TOKEN_RATE, MetricDefinition, Quantity, Scale

SEQUENCE_RATE: Final = Quantity("throughput", ("value",), Scale({"seq/s": Decimal(1)}, "seq/s"), (">", ">="))

TIME_FIGURE: Final = Quantity("throughput", ("value",), TIME, LEVEL.ops)
_PERCENTILES: Final = ("p50", "p95", "p99")

SECTION_FIGURES: Final = {
    "spec_acceptance_length": ("speculation", "acceptance_length", "steps"),
    "spec_acceptance_rate": ("speculation", "acceptance_rate", "drafted_tokens"),
    "sequences_per_second": ("vectors", "sequences_per_second", "requests"),
    "input_tps": ("vectors", "input_tps", "requests"),
    "rtfx": ("speech", "rtfx_mean", "transcribed"),
    "rtf": ("speech", "rtf_mean", "spoken"),
    "images_per_second": ("speech", "images_per_second", "image_requests"),
    **{f"first_audio_{p}": ("speech", f"first_audio_{p}_ms", "spoken") for p in _PERCENTILES},
    **{f"probe_ttft_{p}": ("probes", f"ttft_{p}_ms", "completed") for p in _PERCENTILES},
    **{f"probe_latency_{p}": ("probes", f"latency_{p}_ms", "completed") for p in _PERCENTILES},
}
"""The section of a report that has a metric, and its figures there: the value, and the count behind it."""

SECTION_METRICS: Final = tuple(
    MetricDefinition(name=name, quantity=quantity, meaning=meaning, per="run")
    for name, quantity, meaning in (
        (
            "spec_acceptance_length",
            LEVEL,
            "tokens per step of speculative decoding: 1 + accepted / steps",
        ),
        ("spec_acceptance_rate", SHARE_LEVEL, "share of draft tokens that were accepted"),
        ("sequences_per_second", SEQUENCE_RATE, "inputs with a vector or a score per second"),
        ("input_tps", TOKEN_RATE, "input tokens per second of requests for vectors or scores"),
        ("rtfx", LEVEL, "seconds of a recording / seconds of latency, the mean of requests"),
        ("rtf", LEVEL, "seconds of latency / seconds of speech in the response, the mean of requests"),
        ("images_per_second", LEVEL, "images in responses per second"),
        *(
            (f"first_audio_{p}", TIME_FIGURE, f"time to first audio of speech, {p}, from sending the request")
            for p in _PERCENTILES
        ),
        *((f"probe_ttft_{p}", TIME_FIGURE, f"TTFT of probes, {p}") for p in _PERCENTILES),
        *((f"probe_latency_{p}", TIME_FIGURE, f"latency of probes, {p}") for p in _PERCENTILES),
    )
)
