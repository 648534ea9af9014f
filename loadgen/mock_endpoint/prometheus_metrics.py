"""The server's figures for Prometheus, under vLLM's names where available, so that dashboards fit."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate, pairwise
from operator import add
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from loadgen.mock_endpoint.truth import Truth

PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of the page."""

_REASONS: Final = ("stop", "length", "abort")
_NS: Final = 1e9

TTFT_BOUNDS_S: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
"""The upper bounds of vLLM's buckets of TTFT, without the last one, which has none."""

PACE_BOUNDS_S: Final = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    *(0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
"""As above, of ITL and TPOT."""

LATENCY_BOUNDS_S: Final = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0),
    *(30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)
"""As above, of latency and of the time in the queue."""


class _Histogram:
    """A Prometheus histogram.

    Args:
        bounds_s: The upper bounds of its buckets.
    """

    def __init__(self, bounds_s: Sequence[float]) -> None:
        self._bounds_s = bounds_s
        self._counts = [0] * (len(bounds_s) + 1)
        self._sum_s = 0.0

    def observe(self, value_s: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds_s, value_s)] += 1
        self._sum_s += value_s

    def observe_all(self, values_s: Sequence[float]) -> None:
        """Count values, which may be many."""
        ordered, counted = sorted(values_s), 0
        for place, bound in enumerate(self._bounds_s):
            upto = bisect_right(ordered, bound)
            self._counts[place] += upto - counted
            counted = upto
        self._counts[-1] += len(ordered) - counted
        self._sum_s += sum(ordered)

    def lines(self, name: str, labels: str, explanation: str) -> Iterator[str]:
        """The exposition lines of the histogram."""
        yield f"# HELP {name} {explanation}"
        yield f"# TYPE {name} histogram"
        for bound, count in zip((*self._bounds_s, "+Inf"), accumulate(self._counts), strict=True):
            yield f'{name}_bucket{{{labels},le="{bound}"}} {count}'
        yield f"{name}_sum{{{labels}}} {self._sum_s!r}"
        yield f"{name}_count{{{labels}}} {sum(self._counts)}"


class Metrics:
    """The counters of the server.

    Args:
        model: The value of the label `model_name`.
        queue: Returns how many requests run, and how many wait.
        overrun_s: How long a request goes on whose client left.
        draft_tokens: The draft tokens of a step of speculative decoding; 0 without it.
    """

    def __init__(
        self, model: str, queue: Callable[[], tuple[int, int]], draft_tokens: int = 0, overrun_s: float = 0.0
    ) -> None:
        self._model = model
        self._queue_now = queue
        self._live: set[Truth] = set()
        self._input_tokens = 0
        self._tokens = 0
        self._cached_tokens = 0
        self._overrun_ns, self._overruns = int(overrun_s * _NS), list[int]()
        self._steps = [0] * (draft_tokens + 1)
        self._ttft = _Histogram(TTFT_BOUNDS_S)
        self._gaps = _Histogram(PACE_BOUNDS_S)
        self._pace = _Histogram(PACE_BOUNDS_S)
        self._queue = _Histogram(LATENCY_BOUNDS_S)
        self._latency = _Histogram(LATENCY_BOUNDS_S)
        self._ended: Counter[str] = Counter()
        self._responses: Counter[tuple[str, str, int]] = Counter()

    @property
    def live(self) -> int:
        """How many requests have begun and are not over."""
        return len(self._live)

    def began(self, truth: Truth) -> None:
        """Count a started request, with the planned tokens."""
        self._live.add(truth)

    def ended(self, truth: Truth, method: str) -> None:
        """Count an ended request, and the response if that was sent in full."""
        self._live.discard(truth)
        self._input_tokens += truth.input_tokens
        self._tokens += truth.tokens + truth.overrun_tokens
        if truth.overrun_tokens:
            self._overruns.append(truth.done_ns + self._overrun_ns)
        self._cached_tokens += truth.cached_tokens
        if (drafts := truth.stated.get("drafts")) is not None:
            self._steps = [*map(add, self._steps, drafts["histogram"])]
        if truth.outcome != "aborted":
            self.responded(truth.path, method, truth.status)
        if truth.outcome != "failed":
            self._ended[truth.finish_reason or "abort"] += 1
        if truth.outcome == "completed":
            tokens_ns = sorted(truth.chunk_ns + truth.silent_ns)
            # An answer in one piece has its first token with all the others.
            first_ns = tokens_ns[0] if tokens_ns else truth.done_ns
            self._ttft.observe((first_ns - truth.received_ns) / _NS)
            self._gaps.observe_all([(after - before) / _NS for before, after in pairwise(tokens_ns)])
            if tokens_ns:
                self._pace.observe((tokens_ns[-1] - first_ns) / max(truth.tokens - 1, 1) / _NS)
            self._queue.observe(truth.queued_ns / _NS)
            self._latency.observe((truth.done_ns - truth.received_ns) / _NS)

    def responded(self, path: str, method: str, status: int) -> None:
        """Count a response that was sent in full."""
        self._responses[path, method, status] += 1

    def render(self) -> str:
        """The exposition, in Prometheus' text format 0.0.4."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        model = f'model_name="{_escaped(self._model)}"'
        prompt_tokens = self._input_tokens + sum(truth.input_tokens for truth in self._live)
        tokens = self._tokens + sum(truth.tokens for truth in self._live)
        running, waiting = self._queue_now()
        running += sum(until_ns > time.monotonic_ns() for until_ns in self._overruns)
        yield from _metric("vllm:num_requests_running", "gauge", "Requests being served.", {model: running})
        yield from _metric(
            "vllm:num_requests_waiting", "gauge", "Requests that wait for a slot.", {model: waiting}
        )
        yield from _metric("vllm:prompt_tokens_total", "counter", "Prompt tokens.", {model: prompt_tokens})
        yield from _metric("vllm:generation_tokens_total", "counter", "Tokens written.", {model: tokens})
        queried = {model: self._input_tokens}
        yield from _metric(
            "vllm:prefix_cache_queries_total", "counter", "Prompt tokens looked up in the cache.", queried
        )
        hits = {model: self._cached_tokens}
        yield from _metric("vllm:prefix_cache_hits_total", "counter", "Cached prompt tokens.", hits)
        yield from _metric(
            "vllm:num_preemptions_total", "counter", "Requests that were preempted.", {model: 0}
        )
        if len(self._steps) > 1:
            yield from self._speculation(model)
        yield from self._ttft.lines("vllm:time_to_first_token_seconds", model, "Time to the first token.")
        yield from self._gaps.lines("vllm:inter_token_latency_seconds", model, "Time between tokens.")
        yield from self._pace.lines(
            "vllm:request_time_per_output_token_seconds", model, "Time per token after the first, by request."
        )
        yield from self._queue.lines("vllm:request_queue_time_seconds", model, "Time until a slot was free.")
        yield from self._latency.lines("vllm:e2e_request_latency_seconds", model, "Time to the last byte.")
        ended = {f'{model},finished_reason="{reason}"': self._ended[reason] for reason in _REASONS}
        yield from _metric("vllm:request_success_total", "counter", "Requests that ended, by reason.", ended)
        responses = {
            f'handler="{path}",method="{method}",status="{status}"': count
            for (path, method, status), count in sorted(self._responses.items())
        }
        yield from _metric("http_requests_total", "counter", "Responses that were sent in full.", responses)

    def _speculation(self, model: str) -> Iterator[str]:
        """The counters of drafts, which have element i of `_steps` for the steps that accepted i tokens."""
        prefix, steps, drafted = "vllm:spec_decode_num", sum(self._steps), len(self._steps) - 1
        by_position = [sum(self._steps[position:]) for position in range(1, drafted + 1)]
        yield from _metric(f"{prefix}_drafts_total", "counter", "Drafts.", {model: steps})
        tokens = {model: steps * drafted}
        yield from _metric(f"{prefix}_draft_tokens_total", "counter", "Draft tokens.", tokens)
        accepted = {model: sum(by_position)}
        yield from _metric(f"{prefix}_accepted_tokens_total", "counter", "Accepted tokens.", accepted)
        positions = {f'{model},position="{place}"': count for place, count in enumerate(by_position)}
        name = f"{prefix}_accepted_tokens_per_pos_total"
        yield from _metric(name, "counter", "Accepted tokens by position.", positions)


def _metric(name: str, kind: str, explanation: str, series: dict[str, int]) -> Iterator[str]:
    yield f"# HELP {name} {explanation}"
    yield f"# TYPE {name} {kind}"
    yield from (f"{name}{{{labels}}} {value}" for labels, value in series.items())


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
