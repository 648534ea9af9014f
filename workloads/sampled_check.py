"""Representative samples of a dataset, to avoid making a million samples for a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workloads.synthetic.synthetic_text import MadeSamples
from workloads.synthetic.text_samples import TextSamples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workloads.sample import Sample


def examples(samples: Sequence[Sample]) -> Sequence[Sample]:
    """At least one sample of each kind: all samples, unless they are made on demand.

    Those that are made differ in their texts and in how many turns they have, in nothing else.
    """
    return samples.examples() if isinstance(samples, MadeSamples | TextSamples) else samples
