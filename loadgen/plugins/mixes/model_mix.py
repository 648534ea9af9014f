"""Models with weights: `base=7,lora=3`, or `zipf:1.2:a,b,c`, whose weights fall with the rank."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import changed

if TYPE_CHECKING:
    from loadgen.sessions.settings.perf import PerfSettings

_FORM: Final = "write NAME=WEIGHT,NAME=WEIGHT or zipf:EXPONENT:NAME,NAME"


@dataclass(frozen=True, slots=True)
class ModelMix:
    """Models with weights.

    Attributes:
        names: The models, as the server knows them.
        weights: How often each is asked, relative to the others.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]

    @classmethod
    def read(cls, text: str) -> ModelMix:
        """Read the option.

        Raises:
            UsageError: The text is of another form, a weight is not positive, or a model is named twice.
        """
        kind, _, rest = text.partition(":")
        exponent, separator, listed = rest.partition(":")
        try:
            if kind == "zipf" and separator:
                names = tuple(listed.split(","))
                # Zipf's law: the weight of rank k is 1 / k ** exponent.
                weights = tuple(rank ** -float(exponent) for rank in range(1, len(names) + 1))
            else:
                pairs = [part.rpartition("=") for part in text.split(",")]
                names = tuple(name for name, _, _ in pairs)
                weights = tuple(float(weight) for _, _, weight in pairs)
        except ValueError:
            names, weights = (), ()
        is_weight = all(0 < weight < math.inf for weight in weights)
        if not names or not all(names) or not is_weight or len(set(names)) < len(names):
            raise UsageError(f"--models {text!r}: {_FORM}")
        return cls(names, weights)

    def model(self, seed: int, prompt: int) -> str:
        """The model that a prompt is for: the same for all turns of a conversation, in each worker."""
        random = Random(f"{seed}/model/{prompt}")  # noqa: S311 (no secret)
        return random.choices(self.names, self.weights)[0]


def with_first_model(settings: PerfSettings) -> PerfSettings:
    """The settings with the first model of the mix as the model of checks and rules."""
    return changed(settings, model=ModelMix.read(str(settings.load.models)).names[0])
