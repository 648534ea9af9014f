"""A runner of requests that names a model of the mix in each, and in the tags of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from loadgen.driver.requests.issued_turn import TurnMaker
from loadgen.driver.requests.turn import RequestRunner
from loadgen.plugins.mixes.model_mix import ModelMix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.plan import Plan
    from workloads.sample import Sample

_NOTHING: Final[Mapping[str, Any]] = {}


class MixedTurns(TurnMaker):
    """Makes turns with the model among the tags of the payload."""

    mix: ClassVar[ModelMix]
    seed: ClassVar[int]

    def _payload(self, sample: Sample, *arguments: Any) -> dict[str, Any]:
        data = super()._payload(sample, *arguments)
        return {**data, "tags": {**sample.tags, "model": self.mix.model(self.seed, sample.index)}}


class MixedRunner(RequestRunner):
    """A runner of requests to several models."""

    mix: ClassVar[ModelMix]
    seed: ClassVar[int]

    def prepare(self, sample: Sample, members: Mapping[str, Any] = _NOTHING) -> bytes:
        """Encode a request's body ahead of time, for the model of the mix unless one is given."""
        return super().prepare(sample, {"model": self.mix.model(self.seed, sample.index), **members})


def models_runner(setting: str, plan: Plan) -> type[MixedRunner]:
    """The kind of runner that mixes models as `--models` says."""
    members = {"mix": ModelMix.read(setting), "seed": plan.seed}
    turns = type(MixedTurns.__name__, (MixedTurns,), members)
    return type(MixedRunner.__name__, (MixedRunner,), {**members, "turn_maker": turns})
