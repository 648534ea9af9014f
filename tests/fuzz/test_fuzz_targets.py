"""Any bytes, any split: the laws of `targets.py` hold for what is drawn and for the corpus."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loadgen.driver.client import sse
from tests.for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
MOST_FILES, MOST_BYTES = 100, 200_000


def loaded() -> Any:
    """The targets: a script, not a module of a package."""
    spec = spec_from_file_location("fuzz_targets", HERE / "targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


targets = loaded()
FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file())
EXAMPLES = {"log": 2, "ruleset": 60, "http": 150}


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    """Bounds that few bytes reach beyond."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sse, "MAX_FRAME_BYTES", targets.SMALL)
        yield


def test_the_corpus_is_small_and_complete() -> None:
    """A file or more for each target, and none for others."""
    assert {path.parent.name for path in FILES} == set(targets.TARGETS)
    assert len(FILES) <= MOST_FILES
    assert sum(path.stat().st_size for path in FILES) <= MOST_BYTES


@pytest.mark.slow
@pytest.mark.usefixtures("remembered_logs")
@for_each("path", FILES)
def test_the_corpus_holds(path: Path) -> None:
    """What fuzzing began with, and what it found, again."""
    targets.TARGETS[path.parent.name](path.read_bytes())


def mutations(seeds: list[bytes], words: list[bytes]) -> st.SearchStrategy[bytes]:
    """Real streams with pieces of each other, of the dictionary, or of nothing anywhere in them."""
    piece = st.sampled_from(words) | st.binary(max_size=4)
    edit = st.tuples(st.integers(0, 2000), st.integers(0, 8), piece)
    seed = st.sampled_from(seeds) | st.binary(max_size=60)
    return st.builds(mutated, seed, st.lists(edit, max_size=6), st.binary(min_size=1, max_size=1))


def mutated(seed: bytes, edits: list[tuple[int, int, bytes]], cuts: bytes) -> bytes:
    """A seed with other bytes in some places, cut in another way."""
    for start, length, piece in edits:
        place = start % (len(seed) + 1)
        seed = seed[:place] + piece + seed[place + length :]
    # 255 says that a response is not a stream, or that a log is torn: that is not a matter of cuts.
    return seed if seed[:1] == b"\xff" else cuts + seed[1:]


def words() -> list[bytes]:
    """What the fuzzer's dictionary has."""
    lines = (HERE / "words.dict").read_text().splitlines()
    return [line[1:-1].encode().decode("unicode_escape").encode("latin-1") for line in lines]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "log" else name for name in targets.TARGETS],
)
def test_the_laws_hold(name: str) -> None:
    """Never an exception outside the taxonomy, never more memory than is allowed, whatever comes in."""
    seeds = [path.read_bytes() for path in FILES if path.parent.name == name]

    @settings(max_examples=EXAMPLES.get(name, 100), deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=mutations(seeds, words()))
    def holds(data: bytes) -> None:
        targets.TARGETS[name](data)

    holds()
