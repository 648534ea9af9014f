"""The split of scenarios: training ones, which proposals are made from, and validation ones, which decide."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.tool_selection.scenarios import ToolScenario


class Split(NamedTuple):
    """Two sets of scenarios without a common one, each in the order of the file.

    Attributes:
        training: What proposals are made from and compared on.
        validation: What decides whether a proposal is kept; no proposal is made from it.
    """

    training: tuple[ToolScenario, ...]
    validation: tuple[ToolScenario, ...]


def split(scenarios: Sequence[ToolScenario], share: float, seed: int) -> Split:
    """Draw the validation scenarios from every level in proportion.

    Args:
        scenarios: With unique ids.
        share: Of validation scenarios, between 0 and 1.
        seed: The same seed draws the same scenarios.

    Raises:
        UsageError: One of the sets would be empty.
    """
    random = Random(seed)  # noqa: S311 (a draw, not a secret)
    by_level: dict[str, list[str]] = {}
    for scenario in scenarios:
        by_level.setdefault(scenario.level, []).append(scenario.id)
    # Shuffled by level and interleaved by their rank in it: a prefix has each level in proportion.
    ranked = []
    for level, ids in sorted(by_level.items()):
        random.shuffle(ids)
        ranked += [((rank + 0.5) / len(ids), level, name) for rank, name in enumerate(ids)]
    count = round(share * len(scenarios))
    if not 0 < count < len(scenarios):
        raise UsageError(
            f"--validation-share {share:g} of {len(scenarios)} scenarios leaves no scenario for "
            f"{'validation' if count == 0 else 'training'}: choose another share, or add scenarios"
        )
    chosen = {name for _, _, name in sorted(ranked)[:count]}
    return Split(
        tuple(scenario for scenario in scenarios if scenario.id not in chosen),
        tuple(scenario for scenario in scenarios if scenario.id in chosen),
    )
