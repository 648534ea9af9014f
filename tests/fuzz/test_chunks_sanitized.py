"""The compiled functions over chunks under sanitizers: no byte is read or written that is not their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from tests.fuzz.sanitized import built, run

ROUNDS: Final = os.environ.get("CHUNKS_ROUNDS", "8000")
PROGRAM: Final = """
import random, sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

loader = ExtensionFileLoader("_wire", sys.argv[1])
wire = module_from_spec(spec_from_loader("_wire", loader))
loader.exec_module(wire)
parts = [b"", b"a", b"\\\\", b'"', b'\\\\","', b'","', b"head", b"tail", b"hea", b"ail"]
for _ in range(int(sys.argv[2])):
    ends = [b"".join(random.choices(parts, k=random.randrange(3))) for _ in "ht"]
    insides = [b"".join(random.choices(parts, k=random.randrange(4))) for _ in range(random.randrange(6))]
    frames = [ends[0] + inside + ends[1] if random.random() < 0.9 else inside for inside in insides]
    around = random.sample([b'data: {"id":"', b'","created":', b'"', *parts], 2)
    shapes = [(*ends, "content"), (b",", b'"}', "reasoning")]
    texts = [*parts, b"\\\\u00e9", b"\\\\ud800", b"\\\\u", b"\\xc3\\xa9", b"\\xff", b"\\0", b"7,"]
    start = b"x".join(around) + b"7," + ends[0]
    pieces = [start + b"".join(random.choices(texts, k=random.randrange(4))) + ends[1] for _ in frames]
    known = [(*around, shapes, {b",": 1, b",a": 2})]
    pieces.append(b"data: [DONE]\\n\\n")
    places = range(len(pieces))
    at = sorted(random.randrange(1, 9) for _ in pieces)
    late = {place: (at[place], random.random() < 0.5) for place in places if random.random() < 0.3}
    first = random.randrange(3)
    items = wire.known(pieces, at, late, first, random.randrange(9), known)
    counts = [1 if item is None or len(item) == 3 else item[0] for item in items]
    assert sum(counts) <= len(pieces)
    body, all_known = wire.Body(pieces, at, late), wire.known(pieces, at, late, 0, len(pieces), known)
    assert body.lists(0) == (pieces, at, late)
    assert (body.known(known, 0) or ([],))[0] == all_known
    count, joined = wire.alike(frames, *ends)
    assert count <= len(frames)
    assert joined is None or joined[:2] == b'["' and joined[-2:] == b'"]'
    moments = sorted(random.randrange(2 ** random.randrange(1, 63)) for _ in range(random.randrange(9)))
    assert len(wire.gaps_us(moments, min(moments, default=0))) == 4 * len(moments)
    assert 2 * wire.coalesced(moments) <= len(moments)
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module, compiled with sanitizers."""
    return built(Path("loadgen/driver/client/_wire.abi3.so"), tmp_path_factory.mktemp("chunks"))


@pytest.mark.slow
def test_any_frames_and_moments(module: Path) -> None:
    """Objects of Python come from malloc here, so that the sanitizer knows their ends."""
    run(PROGRAM, module, ROUNDS)
