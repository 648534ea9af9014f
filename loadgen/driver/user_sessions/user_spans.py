"""The span of each user of a closed loop: users of a ramp come and go, users with a pace begin in turn."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loadgen.driver.errors import ProfileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.arrivals.rate_profile import Profile
    from loadgen.driver.load import Closed
    from loadgen.driver.requests.think_time import ThinkTime

_SECOND: Final = 1_000_000_000
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_BISECTIONS: Final = 48


class UserSpan(NamedTuple):
    """The part of a phase in which a user asks.

    Attributes:
        begin_ns: The first session is due at this time after the start of the phase.
        end_ns: No session begins from this time on.
        age: The share of the first conversation that counts as over before the phase, from 0 to 1.
    """

    begin_ns: int = 0
    end_ns: float = math.inf
    age: float = 0.0

    def shortened(self, first: Any) -> UserSpan:
        """Omit the share `age` of a first conversation's turns; return the span of later conversations."""
        if self.age and hasattr(first, "shorten"):
            first.shorten(self.age)
        return self._replace(age=0.0)


def ramp_of(text: str) -> Profile:
    """Read a number of users that changes; raise `ProfileError`, with the forms, for another text."""
    from loadgen.driver.arrivals.rate_profile import Ramp
    from loadgen.driver.arrivals.rate_text import profile

    with suppress(ProfileError):
        ramp = profile(text)
        if isinstance(ramp, Ramp) and all(end >= 1 and end == int(end) for end in (ramp.first, ramp.last)):
            return ramp
    forms = "ramp:1..64,2m, ramp-exp:1..64,2m or steps:1..64x4,2m"
    raise ProfileError(f"{text}: write {forms}, with whole numbers of users from 1 on")


def spans_of(load: Closed, thinking: ThinkTime) -> Callable[[int], UserSpan]:
    """The span of a user by number, of a ramp or with a pace."""
    if load.ramp is not None:
        return lambda user: _on_ramp(load, user)
    users = load.concurrency
    # The golden ratio spreads ages over the users, so that neighbours do not end together.
    return lambda user: UserSpan(user * thinking.length_ns(user, -1) // users, age=user * _GOLDEN % 1)


def _on_ramp(load: Closed, user: int) -> UserSpan:
    """The time in which the ramp has more users than this number."""
    assert load.ramp is not None  # noqa: S101 (the caller knows)
    ramp, wanted = load.ramp, user + 1 - 1e-9
    at_first, at_last = ramp.rate(0.0) >= wanted, ramp.rate(ramp.end_s) >= wanted
    if at_first == at_last:
        return UserSpan() if at_first else UserSpan(end_ns=0)
    before, after = 0.0, ramp.end_s
    for _ in range(_BISECTIONS):
        middle = (before + after) / 2
        before, after = (middle, after) if (ramp.rate(middle) >= wanted) == at_first else (before, middle)
    moment_ns = round(after * _SECOND)
    return UserSpan(end_ns=moment_ns) if at_first else UserSpan(moment_ns)
