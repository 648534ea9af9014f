"""Weights & Biases: a run with configuration and summary; W&B's own variables (WANDB_API_KEY) apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.exports.publishing import reported
from loadgen.sessions.extra_packages import importing

if TYPE_CHECKING:
    from loadgen.plugins.exports.publishing import RunRecord
    from loadgen.sessions.settings.export import ExportSettings

_OPTION: Final = "--to wandb"
_DEFAULT_PROJECT: Final = "loadgen"


def publish(settings: ExportSettings, record: RunRecord) -> str:
    """Publish a run; see `Publish`."""
    with importing(_OPTION, "wandb"):
        import wandb
        from wandb.sdk.mailbox import HandleAbandonedError
    # The other one says that the library's own process has died.
    with reported(_OPTION, (wandb.Error, HandleAbandonedError), ("WANDB_API_KEY",)):
        # The run is over, perhaps on another machine: nothing of this one is watched or sent.
        quiet = wandb.Settings(
            silent=True,
            console="off",
            disable_code=True,
            disable_git=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_save_requirements=False,
        )
        run = wandb.init(
            project=settings.project or _DEFAULT_PROJECT,
            entity=settings.entity,
            group=settings.group,
            tags=list(settings.tag),
            name=record.name,
            id=record.run_id,
            resume="allow",
            config=dict(record.config),
            settings=quiet,
        )
        run.summary.update(dict(record.figures))
        place = run.dir if run.offline else run.url
        run.finish()
    return str(place)
