"""Sizes and shares, as people write them."""

from __future__ import annotations

import pytest

from loadgen.driver.client.memory_bounds import MAX_BODY_BYTES
from loadgen.sessions.settings.kinds import share, size
from loadgen.sessions.settings.option import OptionValueError
from loadgen.sessions.settings.perf import FailureSettings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("1000000", 10**6), ("10MB", 10**7), ("10mb", 10**7), ("64MiB", 2**26), ("500k", 500_000)),
        *(("1.5 GB", 1_500_000_000), ("1Gi", 2**30), (" 7B ", 7)),
    ],
)
def test_sizes(text: str, expected: int) -> None:
    """Decimal and binary units, with or without the B."""
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "MB", "-1MB", "10 TB", "1e6", "ten"])
def test_an_invalid_size_is_refused(text: str) -> None:
    """The message has an example."""
    with pytest.raises(OptionValueError, match="is not a size; write 10MB, 64MiB or 1000000"):
        size(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10%", 0.1), ("0.1", 0.1), ("0", 0), ("0%", 0), ("2.5%", 0.025), ("1", 1), ("100%", 1)],
)
def test_shares(text: str, expected: float) -> None:
    """A percentage or a fraction."""
    assert share(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "10", "101%", "-1%", "%", "1e-3", "some"])
def test_an_invalid_share_is_refused(text: str) -> None:
    """10 could mean 10 %: it is refused rather than guessed at."""
    with pytest.raises(OptionValueError, match=r"is not a share; write 10% or 0\.1"):
        share(text)


def test_defaults_stay_what_they_are() -> None:
    """Nothing is retried, nothing ends a run, and a response has the bound that the client has anyway."""
    settings = FailureSettings()
    assert (settings.retry, settings.max_errors, settings.max_error_rate) == (0, None, None)
    assert size(settings.max_response) == settings.max_response == MAX_BODY_BYTES
