"""What is done for every chunk in compiled code gives what Python gives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadgen.driver.client import arrival_bounds, compiled
from loadgen.driver.client import frame_cache as templates
from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.client.frame_cache import Template

pytestmark = pytest.mark.skipif(
    compiled_function("alike") is None, reason="needs the compiled code: a C compiler at installation"
)

ENDS = (b'{"t":"', b'"}\n\n')
TEXTS = st.binary(max_size=6) | st.sampled_from(
    [b"", b"\\", b'\\"', b'\\","', b'","', b'a\\","b', b"\\\\", b"\xff", b"a", b'"', b"\n", "é".encode()]
)
FRAMES = TEXTS.map(lambda text: ENDS[0] + text + ENDS[1]) | st.sampled_from(
    [b"", ENDS[0], ENDS[1], ENDS[0] + ENDS[1][1:], ENDS[0][:-1] + ENDS[1]]
)
NS = st.integers(0, 2**62)


@given(st.lists(FRAMES, max_size=8))
@example([ENDS[0] + b"a\\" + ENDS[1], ENDS[0] + b"b" + ENDS[1]])
def test_frames_are_read_alike(frames: list[bytes]) -> None:
    """Both count the same frames, and read the same texts from them."""
    template = Template(*ENDS, "content")
    insides = template.insides(frames) if frames else ()
    assert templates.read_alike is not None
    assert template.read(frames) == (len(insides), template.texts(insides) if insides else None)


@given(moments=st.lists(NS, max_size=12), sent_ns=st.integers(-(2**40), 2**62), near=st.booleans())
@example(moments=[0, 0, 7, 7, 7, 2**50], sent_ns=-501, near=False)
def test_times_are_the_same(moments: list[int], sent_ns: int, *, near: bool) -> None:
    """Gaps, and reads that held several chunks."""
    moments = sorted(ns % 5_000 if near else ns for ns in moments)
    if moments:
        sent_ns = min(sent_ns, moments[0])
    assert arrival_bounds.gaps_us(moments, sent_ns) == arrival_bounds.interpreted_gaps_us(moments, sent_ns)
    assert arrival_bounds.coalesced(moments) == arrival_bounds.interpreted_coalesced(moments)


@pytest.mark.parametrize("gaps_us", [arrival_bounds.gaps_us, arrival_bounds.interpreted_gaps_us])
def test_times_that_are_out_of_order_are_refused(gaps_us: Any) -> None:
    """An arrival before the request, or before the one before it, is an error in this program."""
    for moments in ([10_000, 5_000], [0]):
        with pytest.raises(OverflowError):
            gaps_us(moments, 5_000)


def test_other_types_are_refused() -> None:
    """What is not a list of bytes or of whole numbers raises."""
    from loadgen.driver.client import _wire

    wrong: tuple[tuple[Any, ...], ...] = (
        (_wire.alike, None, b"", b""),
        (_wire.alike, ["a"], b"", b""),
        (_wire.alike, [b""], "", b""),
        (_wire.known, (), [], {}, 0, 1, []),
        (_wire.known, ["a"], [1], {}, 0, 1, []),
        (_wire.known, [b"a"], [1], {}, 0, 1, [()]),
        (_wire.known, [b'a"1,'], [1], {}, 0, 1, [(b"a", b'"', [()], {})]),
        (_wire.gaps_us, [0.5], 0),
        (_wire.gaps_us, (1,), 0),
        (_wire.coalesced, ["a"]),
        (_wire.coalesced, (1,)),
    )
    for function, *arguments in wrong:
        with pytest.raises((TypeError, SystemError)):
            function(*arguments)
    for function, arguments in ((_wire.gaps_us, ([2**70], 0)), (_wire.coalesced, ([2**70],))):
        with pytest.raises(OverflowError):
            function(*arguments)  # type: ignore[operator]


def test_a_module_of_other_sources_is_not_used() -> None:
    """It is named, with what to do; the client's I/O runs in Python."""
    stale = SimpleNamespace(INTERFACE=compiled.INTERFACE + 1, __file__="_wire.abi3.so")
    with pytest.warns(RuntimeWarning, match=r"^_wire\.abi3\.so is from another version .* `pip install"):
        assert compiled.of_this_version(stale) is None
    assert compiled.of_this_version(None) is None
