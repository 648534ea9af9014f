"""Whether figures were computed by the definitions that the rules name: others would be another figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulesets.errors import Unanswerable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.definitions import Definitions
    from rulesets.quantity import Kind
    from rulesets.target import Target

_TPOT: Final = ("tpot_denominator", "tpot_end", "tpot_n1")
_TOKENS: Final = ("token_source", "tokenizer", "token_categories")
_OF_A_KIND: Final[Mapping[Kind, tuple[str, ...]]] = {
    "latency": ("latency_origin", "failed_requests"),
    "length": _TOKENS,
    "speed": _TOKENS,
    "interactivity": (*_TPOT, *_TOKENS, "failed_requests"),
    "throughput": ("throughput_window",),
    "good": ("latency_origin",),
}
"""The definitions that a kind of figure depends on."""


def require(target: Target, wanted: Definitions, used: Definitions) -> None:
    """Make sure that a target's figure is by the definitions of its rules.

    Raises:
        Unanswerable: It is by others.
    """
    for name in _that_matter(target):
        asked, had = getattr(wanted, name), getattr(used, name)
        if asked != had:
            what = name.replace("_", " ")
            raise Unanswerable(
                f"the report was computed with {what} {_said(had)}, and the rules say {_said(asked)}",
                "judge the run's log, which any definition can be applied to",
            )


def _that_matter(target: Target) -> Iterator[str]:
    yield from _OF_A_KIND.get(target.quantity.kind, ())
    if target.percentile is not None:
        yield "percentile_method"
    if target.metric in {"tpot", "generation_tps"}:
        yield from dict.fromkeys((*_TPOT, *_TOKENS))
    if target.metric == "decode":
        yield from ("tpot_end", "token_categories")
    if target.metric == "prompt_tps":
        yield "latency_origin"
    if target.metric in {"output_tps", "total_tps", "tps_per_gpu"}:
        yield from _TOKENS


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "of its own" if value is None else str(value)
