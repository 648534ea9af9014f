"""The questions of a run as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.question import Question
    from workloads.sample import Sample


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions of a run, in order.

    Attributes:
        name: The file's name without its folder, or `synthetic`.
        samples: The questions; `samples[i].index == i`. Never empty. Those of a trace, and made-up ones, are
            made when they are asked for: see `workloads.synthetic.synthetic_text`.
        sha256: In hexadecimal, of the file's bytes as stored, or of the synthetic texts joined by newlines;
            of prompts made to length, of what they are made from.
        synthetic: Whether the questions were made up rather than read.
        weights: How often each is asked relative to the others, where the dataset says.
        offsets_ns: When each is asked, from the first on, where the dataset is a trace. Never decreasing.
        facts: What else the log is to keep of it, as JSON: how lengths were counted, for one.
        questions: Of benchmarks, the questions whose samples these are, in the same order; empty where none
            judges the answers.
        session_kind: The kind of sessions of a plug-in that the samples open; empty for single turns,
            conversations and episodes.
        tasks: Of benchmarks, their facts in order, each with `first`, the index of its first question.
    """

    name: str
    samples: Sequence[Sample]
    sha256: str
    synthetic: bool
    weights: tuple[float, ...] | None = None
    offsets_ns: Sequence[int] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    questions: Sequence[Question] = ()
    tasks: tuple[Mapping[str, Any], ...] = ()
    session_kind: str = ""
