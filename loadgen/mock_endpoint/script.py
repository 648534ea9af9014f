"""The decision on the answer to each request, before any byte is sent."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, count, cycle, islice, repeat
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

from lazy_dataclasses import dataclass, replace
from loadgen.mock_endpoint import lifetime, rate_limit, replies
from loadgen.mock_endpoint.answer_cache import Cache
from loadgen.mock_endpoint.ask import RefusedRequest
from loadgen.mock_endpoint.errors import MockOptionsError
from loadgen.mock_endpoint.prefix_cache import PrefixCache
from loadgen.mock_endpoint.request_statements import Drafting
from loadgen.mock_endpoint.token import SILENT, joined
from workloads import distribution_notation
from workloads.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from loadgen.mock_endpoint.ask import MockRequest
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.token import Token

_T = TypeVar("_T")

_WORDS: Final = replies.split(
    " A mock endpoint answers every question with the same few words, for its purpose is not to be right but"
    " to be on time: it knows when each token left, and so it can tell whether a measurement of it is true.",
)


@dataclass(frozen=True, slots=True)
class PlannedResponse:
    """The planned answer to one request.

    Attributes:
        tokens: The answer in tokens; joined they are the answer.
        finish_reason: `length` when the client's limit cut the answer, else `stop`, or what the script says.
        ttft_s: Time to the first token, from the start of service.
        itl: Draws the seconds between two tokens.
        rng: What `itl` draws from; belongs to this answer alone.
        refusal: Fail with this, `ttft_s` after the start, instead of answering.
        cached: Whether it was given before, and so comes at once.
        cached_tokens: The prompt's tokens that came from a cache; None without a cache.
        hit_blocks: The prompt's leading blocks that were in the prefix cache.
        drafting: How it is decoded speculatively; None for a token a step.
    """

    tokens: Sequence[Token]
    finish_reason: str
    ttft_s: float
    itl: distribution_notation.Sampler
    rng: Random
    refusal: RefusedRequest | None = None
    cached: bool = False
    cached_tokens: int | None = None
    hit_blocks: int = 0
    drafting: Drafting | None = None

    @property
    def at_once(self) -> bool:
        """Whether all tokens are due at one time."""
        return isinstance(self.itl, distribution_notation.Constant) and not self.itl.value

    def dues_s(self, tokens_per_piece: int) -> Iterator[float]:
        """When pieces are due, in seconds from the start, without end.

        Token k is due `ttft_s` and k gaps after the start, whatever became of the tokens before it.
        """
        if self.drafting is not None:
            # A step takes one gap, whatever it yields.
            tokens_per_piece = 1
        if isinstance(self.itl, distribution_notation.Constant):
            return count(self.ttft_s, self.itl.value * tokens_per_piece)
        gaps = (sum(self.itl(self.rng) for _ in range(tokens_per_piece)) for _ in repeat(None))
        return accumulate(gaps, initial=self.ttft_s)

    def texts(self, tokens_per_piece: int) -> Sequence[Token]:
        """The pieces, the tokens of each as one."""
        if tokens_per_piece == 1 and self.drafting is None:
            return self.tokens
        sizes = self.sizes(tokens_per_piece)
        ends = accumulate(sizes)
        return [joined(self.tokens[end - size : end]) for size, end in zip(sizes, ends, strict=True)]

    def sizes(self, tokens_per_piece: int) -> Sequence[int]:
        """How many tokens each piece has."""
        length = len(self.tokens)
        if self.drafting is not None:
            return self.drafting.pieces(length) if length else ()
        whole, rest = divmod(length, tokens_per_piece)
        return [tokens_per_piece] * whole + [rest] * bool(rest)

    def last_due_s(self) -> float:
        """When the last token is due, in seconds from the start; for an answer without tokens, `ttft_s`."""
        steps = self.tokens if self.drafting is None else self.sizes(1)
        return self.ttft_s + sum(self.itl(self.rng) for _ in steps[1:])


class Script:
    """The planner of answers. Request n, in call order, draws equal values for equal seeds.

    Raises:
        MockOptionsError: A distribution, a time, the limit of the rate or the replies file cannot be used.
    """

    def __init__(self, options: MockOptions) -> None:
        self._ttft = _named("ttft", distribution_notation.duration, options.ttft)
        self._itl = _named("itl", distribution_notation.duration, options.itl)
        self._length = _named("tokens", distribution_notation.length, options.tokens)
        scripted = replies.load(options.replies) if options.replies else []
        self._replies = replies.Replies(scripted)
        self._prefill = _named("prefill", distribution_notation.duration, options.prefill)
        self._slowdown_s = lifetime.read("slowdown", options.slowdown) or 0.0
        samplers = (self._ttft, self._itl, self._length, self._prefill)
        times = (time for reply in scripted for time in (reply.ttft, reply.itl) if time)
        self._draws = not all(
            isinstance(sampler, distribution_notation.Constant) for sampler in (*samplers, *times)
        )
        self._never_drawn_from = Random(options.seed)  # noqa: S311 (reproducible draws, no secrets)
        self._seed = options.seed
        self._asked = 0
        self._cache = Cache() if options.cache else None
        blocks = options.cache_blocks
        self._prefixes = None if blocks is None else PrefixCache(blocks, options.block_tokens)
        self._block_tokens = options.block_tokens
        limit, outage_s = rate_limit.read(options.rate_limit), lifetime.read("fail_after", options.fail_after)
        self._refusing = [each for each in (limit, outage_s and lifetime.Outage(outage_s)) if each]
        self._ending = (SILENT,) if options.count_eos else ()
        self._holds_calls = options.hold_calls
        self._drafting = None if options.speculate is None else Drafting.read(options.speculate)

    def answer(self, ask: MockRequest, others: int = 0) -> PlannedResponse:
        """Plan the answer to one request, while a number of others are being served."""
        for each in self._refusing:
            if (refusal := each.refusal()) is not None:
                return PlannedResponse((), "stop", 0.0, self._itl, self._never_drawn_from, refusal)
        answer = self._drawn(ask)
        if answer.refusal is not None:
            return answer
        if self._cache is not None and not self._cache.takes(ask):
            at_once = distribution_notation.Constant(0.0)
            return replace(answer, ttft_s=0.0, itl=at_once, cached=True, cached_tokens=ask.input_tokens)
        hits = 0 if self._prefixes is None else self._prefixes.take(ask)
        cached = hits * self._block_tokens
        return replace(
            answer,
            ttft_s=answer.ttft_s + (ask.input_tokens - cached) * self._prefill(answer.rng),
            itl=_slower(answer.itl, others * self._slowdown_s),
            cached_tokens=None if self._prefixes is None and self._cache is None else cached,
            hit_blocks=hits,
            drafting=self._drafting,
        )

    def speech_dues_s(self, pieces: int) -> list[float]:
        """When the pieces of a response with speech are due, in seconds from the request."""
        rng = self._rng()
        return [*accumulate((self._itl(rng) for _ in range(pieces - 1)), initial=self._ttft(rng))]

    def forget_prefixes(self) -> None:
        """Empty the prefix cache."""
        if self._prefixes is not None:
            self._prefixes.clear()

    def _drawn(self, ask: MockRequest) -> PlannedResponse:
        rng = self._rng()
        reply = self._replies.to(ask.question)
        if reply is None:
            ttft_s, length = self._ttft(rng), self._length(rng)
            tokens: Sequence[Token] = _usual(max(length, ask.least_tokens), self._ending)
            return _cut(tokens, ask.max_tokens, ttft_s, self._itl, rng)
        if reply.status is not None:
            refusal = RefusedRequest(reply.status, reply.error, kind="scripted_failure")
            return PlannedResponse(
                (), "stop", reply.ttft(rng) if reply.ttft else 0.0, self._itl, rng, refusal
            )
        ttft_s = (reply.ttft or self._ttft)(rng)
        tokens = reply.tokens(holds_calls=self._holds_calls) if ask.chat else replies.split(reply.text)
        return _cut(
            (*tokens, *self._ending), ask.max_tokens, ttft_s, reply.itl or self._itl, rng, reply.finish_reason
        )

    def _rng(self) -> Random:
        """The generator for the next request; seeding is the slowest part of an answer."""
        self._asked += 1
        if not self._draws:
            return self._never_drawn_from
        return Random(f"{self._seed}:{self._asked - 1}")  # noqa: S311 (reproducible draws, no secrets)


@lru_cache(maxsize=16)
def _usual(length: int, ending: tuple[str, ...]) -> Sequence[str]:
    return (*islice(cycle(_WORDS), length), *ending)


def _cut(
    tokens: Sequence[Token],
    limit: int | None,
    ttft_s: float,
    itl: distribution_notation.Sampler,
    rng: Random,
    finish_reason: str = "stop",
) -> PlannedResponse:
    too_long = limit is not None and len(tokens) > limit
    return PlannedResponse(tokens[:limit], "length" if too_long else finish_reason, ttft_s, itl, rng)


def _slower(itl: distribution_notation.Sampler, by_s: float) -> distribution_notation.Sampler:
    if not by_s:
        return itl
    if isinstance(itl, distribution_notation.Constant):
        return distribution_notation.Constant(itl.value + by_s)
    return lambda rng: itl(rng) + by_s


def _named(name: str, parse: Callable[[str], _T], spec: str) -> _T:
    try:
        return parse(spec)
    except DistributionError as error:
        raise MockOptionsError(f"{name}: {error}") from error
