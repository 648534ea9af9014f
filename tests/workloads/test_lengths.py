"""Lengths come from distributions that can give their mean, and from files of counts."""

from __future__ import annotations

import statistics
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.distribution_notation import length
from workloads.errors import DistributionError, WorkloadError
from workloads.lengths import MOST_TOKENS, lengths

if TYPE_CHECKING:
    from pathlib import Path

SPECS = ["64", "fixed:64", "uniform:16..128", "normal:64,16", "lognormal:64,0.5", "exponential:64"]


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_lengths_have_their_mean_and_stay_in_bounds(spec: str, seed: int) -> None:
    """Every length is a whole number within bounds, and their mean is the reported one."""
    rng, wanted = Random(seed), lengths("--input-tokens", spec)  # noqa: S311 (reproducible draws, no secrets)
    drawn = [wanted.drawn(rng) for _ in range(2000)]
    assert all(type(item) is int and 1 <= item <= MOST_TOKENS for item in drawn)
    error = 6 * statistics.stdev(drawn) / len(drawn) ** 0.5
    assert statistics.mean(drawn) == pytest.approx(wanted.mean, abs=error + 0.05)


@pytest.mark.parametrize(
    "spec",
    ["normal:5,100", "lognormal:100,5", "lognormal:100,99", "exponential:1", "fixed:2000000"],
)
def test_who_cannot_give_its_mean_is_refused(spec: str) -> None:
    """Where bounds move the mean by more than a twentieth, the message says from where to where."""
    with pytest.raises(DistributionError, match=r"--turns '.*': cannot give its mean, which is"):
        lengths("--turns", spec)


def test_a_bound_of_the_caller_counts() -> None:
    """A distribution that is fine for prompts may be too wide for something shorter."""
    assert lengths("--turns", "fixed:40", 50).mean == 40
    with pytest.raises(DistributionError, match=r"bounded to 1\.\.30"):
        lengths("--turns", "fixed:40", 30)


def test_the_option_is_named() -> None:
    """A distribution that cannot be read is reported with its option."""
    with pytest.raises(DistributionError, match=r"^--input-tokens 'unform:1\.\.2': unknown distribution"):
        lengths("--input-tokens", "unform:1..2")


HISTOGRAMS = {
    "values.csv": "value,weight\n16,1\n512,3\n",
    "ranges.csv": "low,high,weight\n16,16,2\n512,512,6\n",
    "values.json": '[{"value": 16, "weight": 0.25}, {"value": 512, "weight": 0.75}]',
    "values.jsonl": '{"weight": 1, "value": 16}\n{"weight": 3, "value": 512}\n',
}


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_a_histogram_is_drawn_from(tmp_path: Path, name: str) -> None:
    """Counts and shares, values and ranges: a quarter of the lengths is short, from any file."""
    file = tmp_path / name
    file.write_text(HISTOGRAMS[name])
    wanted = lengths("--input-tokens", f"histogram:{file}")
    assert wanted.mean == 388
    for draw in (wanted.drawn, length(f"histogram:{file}")):
        rng = Random(3)  # noqa: S311 (reproducible draws, no secrets)
        drawn = [draw(rng) for _ in range(2000)]
        assert set(drawn) == {16, 512}
        assert drawn.count(16) == pytest.approx(500, abs=120)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("value,weight\n16,1\n0,3\n", "h.csv, line 3, column 'value': '0'"),
        ("value,weight\n16,1\n1.5,3\n", "h.csv, line 3, column 'value': '1.5'"),
        ("value,weight\n,1\n", "h.csv, line 2, column 'value': empty"),
        ("value,weight\n16,-1\n", "h.csv, line 2, column 'weight': '-1'"),
        ("value,weight\n16,0\n512,0\n", "h.csv, column 'weight': the weights add up to 0"),
        ("low,high,weight\n16,8,1\n", "h.csv, line 2: low 16 is above high 8"),
        ("length,count\n16,1\n", "h.csv, line 2: the columns of a histogram are value and weight"),
        ("value,weight\n", "h.csv: there are no rows"),
    ],
)
def test_a_bad_histogram_names_file_and_line(tmp_path: Path, content: str, complaint: str) -> None:
    """So that it can be mended."""
    file = tmp_path / "h.csv"
    file.write_text(content)
    with pytest.raises(WorkloadError) as raised:
        lengths("--input-tokens", f"histogram:{file}")
    assert complaint in str(raised.value)
