"""The server's figures for Prometheus, under vLLM's names where vLLM has them, so that dashboards fit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.mock_endpoint.slots import Slots
    from loadgen.mock_endpoint.truth import Truth

_REASONS: Final = ("stop", "length", "abort")


class Metrics:
    """Counts what is served.

    Args:
        model: The value of the label `model_name`.
        slots: Tells how many requests run and wait.
    """

    def __init__(self, model: str, slots: Slots) -> None:
        self._model = model
        self._slots = slots
        self._live: set[Truth] = set()
        self._input_tokens = 0
        self._tokens = 0
        self._ended: Counter[str] = Counter()
        self._responses: Counter[tuple[str, str, int]] = Counter()

    def began(self, truth: Truth) -> None:
        """Count a request from here on, with the tokens that it will get."""
        self._live.add(truth)

    def ended(self, truth: Truth) -> None:
        """Count a request as over."""
        self._live.remove(truth)
        self._input_tokens += truth.input_tokens
        self._tokens += truth.tokens
        if truth.outcome != "failed":
            self._ended[truth.finish_reason or "abort"] += 1

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
        running, waiting = self._slots.running, self._slots.waiting
        yield from _metric("vllm:num_requests_running", "gauge", "Requests being served.", {model: running})
        yield from _metric(
            "vllm:num_requests_waiting", "gauge", "Requests that wait for a slot.", {model: waiting}
        )
        yield from _metric("vllm:prompt_tokens_total", "counter", "Prompt tokens.", {model: prompt_tokens})
        yield from _metric("vllm:generation_tokens_total", "counter", "Tokens written.", {model: tokens})
        ended = {f'{model},finished_reason="{reason}"': self._ended[reason] for reason in _REASONS}
        yield from _metric("vllm:request_success_total", "counter", "Requests that ended, by reason.", ended)
        responses = {
            f'handler="{path}",method="{method}",status="{status}"': count
            for (path, method, status), count in sorted(self._responses.items())
        }
        yield from _metric("http_requests_total", "counter", "Responses that were sent in full.", responses)


def _metric(name: str, kind: str, explanation: str, series: dict[str, int]) -> Iterator[str]:
    yield f"# HELP {name} {explanation}"
    yield f"# TYPE {name} {kind}"
    yield from (f"{name}{{{labels}}} {value}" for labels, value in series.items())


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
