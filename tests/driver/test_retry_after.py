"""What servers write into `Retry-After`, and what is made of it."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.head import head
from loadgen.driver.client.retry_after import MOST_S, retry_after_s


def asked(value: str) -> float | None:
    """What a response with this header asks for."""
    return retry_after_s(head(503, ((b"Retry-After", value.encode()),)))


def test_without_the_header() -> None:
    """The header does not exist."""
    assert retry_after_s(head(503, ())) is None


@pytest.mark.parametrize(("value", "wanted"), [("0", 0), ("120", 120), (" 7 ", 7), ("1.5", 1.5)])
def test_seconds(value: str, wanted: float) -> None:
    """A number; some servers send fractions."""
    assert asked(value) == wanted


def test_a_date() -> None:
    """The seconds until then; what is over is now."""
    assert asked(formatdate(time.time() + 100, usegmt=True)) == pytest.approx(99, abs=2)
    assert asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0


@pytest.mark.parametrize("name", [b"retry-after-ms", b"Retry-After-Ms", b"x-ms-retry-after-ms"])
@pytest.mark.parametrize(
    ("value", "wanted"), [(b"1500", 1.5), (b" 0.5 ", 0.0005), (b"0", 0), (b"9" * 20, MOST_S)]
)
def test_milliseconds(name: bytes, value: bytes, wanted: float) -> None:
    """The more exact header wins, unless it is not a number."""
    assert retry_after_s(head(429, ((b"Retry-After", b"7"), (name, value)))) == wanted
    assert retry_after_s(head(429, ((name, value),))) == wanted
    assert retry_after_s(head(429, ((name, b"soon"), (b"Retry-After", b"7")))) == 7


@given(st.text(st.characters(max_codepoint=255, exclude_characters="\r\n")))
def test_anything_else_is_nothing(value: str) -> None:
    """Whatever is there: a number of seconds that can be waited, or none at all."""
    wanted = retry_after_s(head(503, ((b"Retry-After", value.encode("latin-1")),)))
    assert wanted is None or 0 <= wanted < float("inf")


@pytest.mark.parametrize("value", ["9999999999", "1000000001.5", "9" * 5000])
def test_more_digits_than_anybody_waits(value: str) -> None:
    """It is bounded, and no retry comes at once because of it."""
    assert asked(value) == MOST_S


@pytest.mark.parametrize("value", ["", "-1", "0\x1f", "soon", "1e9", "Wed, 99 Oct 2015 07:28:00 GMT", "१"])
def test_nonsense(value: str) -> None:
    """It is passed over."""
    assert asked(value) is None
