"""The truth on its way to the file."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from loadgen.mock_endpoint import Truth
from loadgen.mock_endpoint.ledger import Ledger
from loadgen.mock_endpoint.truth import TruthFile, read

if TYPE_CHECKING:
    from pathlib import Path


def test_everything_is_written_in_order(tmp_path: Path) -> None:
    """Slices write the oldest first, and all of them together write everything once."""
    path = tmp_path / "truth.jsonl"
    with closing(TruthFile(path)) as file:
        ledger = Ledger(file)
        for number in range(500):
            ledger.enter(Truth(str(number), "/v1/completions", number))
        assert len(ledger) == 500
        ledger.write_slice()
        assert 0 < len(read(path)) < 500
        ledger.write_all()
        assert not ledger
    assert [truth.received_ns for truth in read(path)] == list(range(500))


def test_what_waits_is_bounded(tmp_path: Path) -> None:
    """When every turn brings more than a small slice, slices grow until they write what comes."""
    with closing(TruthFile(tmp_path / "truth.jsonl")) as file:
        ledger = Ledger(file)
        for _ in range(500):
            for number in range(64):
                ledger.enter(Truth(str(number), "/v1/completions", number))
            ledger.write_slice()
            assert len(ledger) < 64 * 33


def test_little_does_not_press(tmp_path: Path) -> None:
    """A few truths wait for an idle moment, many do not."""
    with closing(TruthFile(tmp_path / "truth.jsonl")) as file:
        ledger = Ledger(file)
        pressing = []
        for number in range(100):
            ledger.enter(Truth(str(number), "/v1/completions", number))
            pressing.append(ledger.pressing)
    assert pressing == sorted(pressing)
    assert (pressing[0], pressing[-1]) == (False, True)


def test_a_truth_without_a_file_is_forgotten() -> None:
    """Without a file nothing is kept."""
    ledger = Ledger(None)
    ledger.enter(Truth("a", "/v1/completions", 1))
    assert not ledger
