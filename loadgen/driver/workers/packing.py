"""The questions for a worker: only those to be asked, as plain values, which pickle best."""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.requests.request_source import RequestSource
from workloads.sample import FollowUp, Sample
from workloads.synthetic.word_prompts import TextSamples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.driver.plan import Plan

_USUAL: Final = attrgetter("index", "prompt", "system")
_RARE: Final = attrgetter("chat", "token_ids", "tools", "max_tokens", "temperature", "tags")
_NOTHING_RARE: Final[tuple[Any, ...]] = (None, None, (), None, None, {})
_FEW: Final = 3 + len(_NOTHING_RARE)
"""The fields of a sample without follow-ups, at most."""

_FOLLOW_UP: Final = attrgetter("messages", "recorded", "max_tokens")

Packed = tuple[Any, ...]
"""What a request source is packed as."""


def packed(source: RequestSource, plan: Plan) -> Packed:
    """The parts of the questions that a worker needs under the plan."""
    samples: Sequence[Any] = _needed(source, plan)
    if isinstance(samples, TextSamples):
        samples = samples.alone()
    elif isinstance(samples, tuple | list):
        samples = [_packed_sample(sample, recorded=plan.history == "recorded") for sample in samples]
    offsets_ns = None if source.offsets_ns is None else array("q", source.offsets_ns)
    left = None if source.left is None else array("q", source.left)
    return (
        samples,
        source.conversations,
        source.weights,
        offsets_ns,
        left,
        source.elapsed_ns,
    )


def unpacked(pack: Packed) -> RequestSource:
    """The request source again."""
    samples, *others = pack
    if isinstance(samples, TextSamples):
        samples = samples.made()
    elif isinstance(samples, list):
        samples = tuple(map(_unpacked_sample, samples))
    return RequestSource(samples, *others)


def _needed(source: RequestSource, plan: Plan) -> Sequence[Sample]:
    """The samples that a session can ask."""
    count = plan.count if source.left is None else max(source.left, default=-1) + 1
    if count is None or plan.warmup_s is not None or plan.order != "in-order":
        return source.samples
    return source.samples[: plan.warmup + count]


def _packed_sample(sample: Sample, *, recorded: bool) -> Packed:
    if type(sample) is not Sample:
        return (sample,)
    rare = _RARE(sample)
    if not sample.follow_ups:
        return _USUAL(sample) if rare == _NOTHING_RARE else (*_USUAL(sample), *rare)
    follow_ups = [_FOLLOW_UP(follow_up) for follow_up in sample.follow_ups]
    if not recorded:
        follow_ups = [(messages, None, max_tokens) for messages, _, max_tokens in follow_ups]
    return (*_USUAL(sample), *rare, follow_ups)


def _unpacked_sample(pack: Packed) -> Sample:
    if len(pack) == 1:
        return pack[0]  # type: ignore[no-any-return]  # a sample of another class travels as it is
    fields, follow_ups = pack[:_FEW], pack[_FEW:]
    if follow_ups:
        fields = (*fields, tuple(FollowUp(*follow_up) for follow_up in follow_ups[0]))
    return Sample(*fields)
