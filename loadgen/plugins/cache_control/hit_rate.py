"""Prompts for a chosen share of cached tokens: groups with a shared prefix of whole blocks, and a warm-up."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import chain, count
from typing import TYPE_CHECKING, Final, overload

from lazy_dataclasses import dataclass, replace
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.loads import warmup_of
from loadgen.sessions.settings.concerns import changed, set_flags
from loadgen.sessions.settings.kinds import share
from loadgen.sessions.settings.option import OptionValueError
from reporter.cache_hits import MOST_OFF
from workloads.lengths import MOST_TOKENS, Lengths, lengths
from workloads.synthetic.synthetic_text import MadeSamples, NumberedTexts, shuffled
from workloads.synthetic.text_length import Measure
from workloads.synthetic.to_length import (
    DEFAULT_LENGTHS,
    prompts_to_length,
    seeded,
    shared_prefix,
    source_text,
)

if TYPE_CHECKING:
    from random import Random

    from loadgen.sessions.settings.perf import PerfSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from workloads.dataset import Dataset
    from workloads.synthetic.text_length import TokenCount
    from workloads.synthetic.to_length import Wanted

_COUNTS: Final = 2
_CONTRADICTED: Final = ("shared_prefix", "turns", "salt", "order", "only_prompt")


@dataclass(frozen=True, slots=True)
class HitRate:
    """A target share of cached prompt tokens, and prompts that reach it.

    Attributes:
        target: The share, between 0 and 1.
        groups: How many prefixes there are.
        tokens: The length of each prompt with its prefix; the mean where lengths differ.
        block_tokens: The tokens of a block of the server's cache.
        servers: How many caches are primed, each with all prefixes.
        has_one_length: Whether all prompts have one length.
    """

    target: Fraction
    groups: int
    tokens: int
    block_tokens: int
    servers: int = 1
    has_one_length: bool = True

    @property
    def prefix_tokens(self) -> int:
        """The length of the prefix of a prompt of the mean length."""
        return self.prefix_of(self.tokens)

    @property
    def planned(self) -> float:
        """The share that prompts of the mean length with a cached prefix have."""
        return self.prefix_tokens / self.tokens

    @property
    def priming(self) -> int:
        """How many prompts it takes to send each prefix to each server."""
        return self.groups * self.servers

    def prefix_of(self, tokens: int) -> int:
        """The length of a prompt's prefix: the whole blocks within the target's share of the prompt."""
        return int(self.target * tokens) // self.block_tokens * self.block_tokens

    def group(self, prompt: int) -> int:
        """The group of a prompt: neighbours go to different servers, and have one group."""
        return prompt // self.servers % self.groups


@dataclass(frozen=True, slots=True)
class GroupPrefixes(Sequence[str]):
    """The prefixes of prompts: those of a group begin alike, and are as long as each prompt needs.

    Attributes:
        rate: The groups.
        texts: The numbers of groups, and the lengths of the prefixes of all prompts.
    """

    rate: HitRate
    texts: NumberedTexts

    def __len__(self) -> int:
        return len(self.texts.units)

    @overload
    def __getitem__(self, prompt: int) -> str: ...
    @overload
    def __getitem__(self, prompt: slice) -> Sequence[str]: ...
    def __getitem__(self, prompt: int | slice) -> str | Sequence[str]:
        if isinstance(prompt, slice):
            return [self[each] for each in range(len(self))[prompt]]
        texts, number = self.texts, self.texts.numbers[self.rate.group(prompt)]
        return texts.source.numbered(number, texts.units[prompt], salt=texts.salt).lstrip()


@dataclass(frozen=True, slots=True)
class LengthsAfterPrefix:
    """The lengths of prompts without their prefixes; see `workloads.distributions.LengthDistribution`.

    Attributes:
        rate: The prefixes.
        whole: The lengths of prompts.
    """

    rate: HitRate
    whole: Lengths

    @property
    def mean(self) -> float:
        """The mean, but for parts of blocks."""
        return self.whole.mean * float(1 - self.rate.target)

    def mean_within(self, low: float, high: float) -> float:
        """The mean, but for parts of blocks, with draws outside the bounds counted as the bound."""
        return self.whole.shape.mean_within(low, high) * float(1 - self.rate.target)

    def __call__(self, rng: Random, /) -> float:
        """Draw a length."""
        tokens = self.whole.drawn(rng)
        return tokens - self.rate.prefix_of(tokens)


def hit_rate(prompts: PromptSettings) -> HitRate:
    """Read `--cache-hit` with the length of prompts and the size of blocks.

    Raises:
        UsageError: It cannot be read, or blocks do not fit the lengths; the message says what does.
    """
    spec, tokens = prompts.cache_hit or "", prompts.input_tokens or DEFAULT_LENGTHS
    text, groups, servers, *others = *spec.split("x"), "1", "1"
    try:
        target = Fraction(share(text)).limit_denominator(10_000)
        if len(others) > _COUNTS or not servers.isdecimal() or servers == "0":
            raise OptionValueError(spec)  # noqa: TRY301 (it has one message)
    except OptionValueError as error:
        raise UsageError(f"--cache-hit {spec!r}: write SHARE or SHARExGROUPS, e.g. 0.6 or 60%x8") from error
    if not 0 < target < 1:
        raise UsageError(f"--cache-hit {spec!r}: the share must be above 0 and below 1")
    if prompts.cache_block < 1:
        raise UsageError(f"--cache-block {prompts.cache_block}: must be 1 or more")
    length = round(lengths("--input-tokens", tokens).mean)
    is_one = tokens.strip().removeprefix("fixed:").isdecimal()
    rate = HitRate(target, 1, length, prompts.cache_block, int(servers), is_one)
    if is_one:
        _require_fitting(rate, spec)
    prefix = shared_prefix("--cache-hit", f"{max(1, rate.prefix_tokens)}x{groups}")
    return replace(rate, groups=prefix.groups)


def _require_fitting(rate: HitRate, spec: str) -> None:
    """Refuse a length of which no whole blocks are near the target's share."""
    if not rate.prefix_tokens or abs(rate.planned - rate.target) > MOST_OFF:
        raise UsageError(
            f"--cache-hit {spec}: {100 * float(rate.target):.1f} % of {rate.tokens} tokens is not near a "
            f"multiple of {rate.block_tokens}; give --input-tokens {_fitting(rate)}, or the server's "
            "--cache-block"
        )


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
    """The settings with a warm-up that sends a prompt of each group to each server: caches have the prefixes.

    The option then names the servers too: SHARExGROUPSxSERVERS.

    Raises:
        UsageError: An option contradicts `--cache-hit`.
    """
    rate = hit_rate(settings.prompts)
    if contradicted := set_flags(settings.prompts, *_CONTRADICTED):
        raise UsageError(f"{' and '.join(contradicted)}: --cache-hit chooses the shared prefixes; leave out")
    servers = len(settings.endpoint.urls)
    if servers > 1 and settings.endpoint.balance not in (None, "round-robin"):
        raise UsageError("--balance: --cache-hit primes the servers in turn; leave --balance out")
    rate = replace(rate, servers=servers)
    warmup, warmup_s = warmup_of(settings.load)
    if warmup_s is not None:
        raise UsageError(
            f"--warmup {settings.load.warmup}: --cache-hit sends one prompt of each of {rate.groups} groups "
            "to warm up; give a number of requests, or leave it out"
        )
    spec = f"{(settings.prompts.cache_hit or '').partition('x')[0]}x{rate.groups}x{servers}"
    return changed(settings, warmup=f"{max(warmup, rate.priming)}", cache_hit=spec)


def prompts_with_hits(wanted: Wanted, prompts: PromptSettings, count_tokens: TokenCount | None) -> Dataset:
    """Make prompts that share prefixes, with the target among the dataset's facts.

    Raises:
        UsageError, PromptError: They cannot be made.
    """
    rate = hit_rate(prompts)
    if rate.has_one_length:
        rest = lengths("--input-tokens", f"{rate.tokens - rate.prefix_tokens}")
        prefix = shared_prefix("--cache-hit", f"{rate.prefix_tokens}x{rate.groups}")
        dataset = prompts_to_length(replace(wanted, input_tokens=rest, prefix=prefix), count_tokens)
        samples = dataset.samples
        assert isinstance(samples, MadeSamples)  # noqa: S101 (made here)
        by_prompt = tuple(chain.from_iterable([text] * rate.servers for text in samples.prefixes))
        dataset = replace(dataset, samples=replace(samples, prefixes=by_prompt))
        longest, planned = rate.prefix_tokens, rate.planned
    else:
        dataset, longest, planned = _of_several_lengths(rate, wanted, count_tokens)
    facts = {
        "target": float(rate.target),
        "planned": planned,
        "groups": rate.groups,
        "prefix_tokens": longest,
        "block_tokens": rate.block_tokens,
    }
    return replace(dataset, facts={**dataset.facts, "cache_hit": facts})


def _of_several_lengths(
    rate: HitRate, wanted: Wanted, count_tokens: TokenCount | None
) -> tuple[Dataset, int, float]:
    """Prompts of several lengths, the tokens of the longest prefix, and the share that all prefixes make.

    The prompts that prime the caches have the longest prefix.
    """
    whole, measure = wanted.input_tokens, Measure(count_tokens)
    rest = Lengths(whole.spec, LengthsAfterPrefix(rate, whole), whole.limit)
    dataset = prompts_to_length(replace(wanted, input_tokens=rest), count_tokens)
    random = seeded(wanted.seed, "input")
    drawn = [whole.drawn(random) for _ in range(wanted.count)]
    prefixes = array("Q", (rate.prefix_of(tokens) for tokens in drawn))
    planned, longest = sum(prefixes) / sum(drawn), max(prefixes)
    if abs(planned - rate.target) > MOST_OFF:
        raise UsageError(
            f"--cache-hit: whole blocks of {rate.block_tokens} are {100 * planned:.1f} % of --input-tokens "
            f"{whole.spec}, not {100 * float(rate.target):.1f} %; give longer prompts, or the server's "
            "--cache-block"
        )
    first = min(rate.priming, len(prefixes))
    prefixes[:first] = array("Q", [longest]) * first
    texts = NumberedTexts(
        source_text(wanted.corpus, measure),
        shuffled(rate.groups, seeded(wanted.seed, "prefixes")),
        measure.all_units(array("Q", (max(1, tokens) for tokens in prefixes))),
        ends=False,
        salt=wanted.salt,
    )
    samples = dataset.samples
    assert isinstance(samples, MadeSamples)  # noqa: S101 (made here)
    checksum = sha256(f"{dataset.sha256} {rate} {prefixes.tobytes().hex()}".encode()).hexdigest()
    made = replace(samples, prefixes=GroupPrefixes(rate, texts))
    return replace(dataset, samples=made, sha256=checksum), longest, planned
