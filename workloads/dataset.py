"""The questions of a run as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workloads.sample import Sample


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions of a run, in order.

    Attributes:
        name: The file's name without its folder, or `synthetic`.
        samples: The questions; `samples[i].index == i`. Never empty.
        sha256: In hexadecimal, of the file's bytes as stored, or of the synthetic texts joined by newlines.
        synthetic: Whether the questions were made up rather than read.
    """

    name: str
    samples: tuple[Sample, ...]
    sha256: str
    synthetic: bool
