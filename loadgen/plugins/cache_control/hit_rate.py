"""Prompts for a chosen share of cached tokens: groups with a shared prefix of whole blocks, and a warm-up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.loads import warmup_of
from loadgen.sessions.settings.concerns import changed, set_flags
from loadgen.sessions.settings.kinds import share
from loadgen.sessions.settings.option import OptionValueError
from reporter.cache_hits import MOST_OFF
from workloads.lengths import MOST_TOKENS, lengths
from workloads.synthetic.to_length import DEFAULT_LENGTHS, prompts_to_length, shared_prefix

if TYPE_CHECKING:
    from loadgen.sessions.settings.perf import PerfSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from workloads.dataset import Dataset
    from workloads.synthetic.text_length import TokenCount
    from workloads.synthetic.to_length import Wanted

_CONTRADICTED: Final = ("shared_prefix", "turns", "salt", "order", "only_prompt")


@dataclass(frozen=True, slots=True)
class HitRate:
    """A target share of cached prompt tokens, and prompts that reach it.

    Attributes:
        target: The share, between 0 and 1.
        groups: How many prefixes there are.
        tokens: The length of each prompt, with its prefix.
        block_tokens: The tokens of a block of the server's cache.
    """

    target: Fraction
    groups: int
    tokens: int
    block_tokens: int

    @property
    def prefix_tokens(self) -> int:
        """The length of each prefix: the whole blocks within the target's share of a prompt."""
        return int(self.target * self.tokens) // self.block_tokens * self.block_tokens

    @property
    def planned(self) -> float:
        """The share that prompts with a cached prefix have."""
        return self.prefix_tokens / self.tokens


def hit_rate(prompts: PromptSettings) -> HitRate:
    """Read `--cache-hit` with the length of prompts and the size of blocks.

    Raises:
        UsageError: It cannot be read, or blocks do not fit the lengths; the message says what does.
    """
    spec, tokens = prompts.cache_hit or "", prompts.input_tokens or DEFAULT_LENGTHS
    text, _, groups = spec.partition("x")
    try:
        target = Fraction(share(text)).limit_denominator(10_000)
    except OptionValueError as error:
        raise UsageError(f"--cache-hit {spec!r}: write SHARE or SHARExGROUPS, e.g. 0.6 or 60%x8") from error
    if not 0 < target < 1:
        raise UsageError(f"--cache-hit {spec!r}: the share must be above 0 and below 1")
    if not tokens.strip().removeprefix("fixed:").isdecimal():
        raise UsageError(
            f"--cache-hit: --input-tokens {tokens}: prompts of one length have one hit rate; give a number"
        )
    if prompts.cache_block < 1:
        raise UsageError(f"--cache-block {prompts.cache_block}: must be 1 or more")
    length = round(lengths("--input-tokens", tokens).mean)
    rate = HitRate(target, 1, length, prompts.cache_block)
    if not rate.prefix_tokens or abs(rate.planned - target) > MOST_OFF:
        raise UsageError(
            f"--cache-hit {spec}: {float(target):.1%} of {length} tokens is not near a multiple of "
            f"{rate.block_tokens}; give --input-tokens {_fitting(rate)}, or the server's --cache-block"
        )
    prefix = shared_prefix("--cache-hit", f"{rate.prefix_tokens}x{groups or 1}")
    return replace(rate, groups=prefix.groups)


def _fitting(rate: HitRate) -> int:
    """The next length of which the target's share is within a tenth of what may be off."""
    others = (replace(rate, tokens=tokens) for tokens in count(rate.tokens))
    return next(
        other.tokens
        for other in others
        if (other.prefix_tokens and rate.target - other.planned < MOST_OFF / 10)
        or other.tokens >= MOST_TOKENS
    )


def primed(settings: PerfSettings) -> PerfSettings:
    """The settings with a warm-up that sends a prompt of each group, so that the cache has all prefixes.

    Raises:
        UsageError: An option contradicts `--cache-hit`.
    """
    rate = hit_rate(settings.prompts)
    if contradicted := set_flags(settings.prompts, *_CONTRADICTED):
        raise UsageError(f"{' and '.join(contradicted)}: --cache-hit chooses the shared prefixes; leave out")
    if len(settings.endpoint.urls) > 1:
        raise UsageError("--cache-hit primes the cache of one server: give one --url")
    warmup, warmup_s = warmup_of(settings.load)
    if warmup_s is not None:
        raise UsageError(
            f"--warmup {settings.load.warmup}: --cache-hit sends one prompt of each of {rate.groups} groups "
            "to warm up; give a number of requests, or leave it out"
        )
    return changed(settings, warmup=f"{max(warmup, rate.groups)}")


def prompts_with_hits(wanted: Wanted, prompts: PromptSettings, count_tokens: TokenCount | None) -> Dataset:
    """Make prompts that share prefixes, with the target among the dataset's facts.

    Raises:
        UsageError, PromptError: They cannot be made.
    """
    rate = hit_rate(prompts)
    rest = lengths("--input-tokens", f"{rate.tokens - rate.prefix_tokens}")
    prefix = shared_prefix("--cache-hit", f"{rate.prefix_tokens}x{rate.groups}")
    dataset = prompts_to_length(replace(wanted, input_tokens=rest, prefix=prefix), count_tokens)
    facts = {
        "target": float(rate.target),
        "planned": rate.planned,
        "groups": rate.groups,
        "prefix_tokens": rate.prefix_tokens,
        "block_tokens": rate.block_tokens,
    }
    return replace(dataset, facts={**dataset.facts, "cache_hit": facts})
