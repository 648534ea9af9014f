"""MLflow: an experiment's run with parameters and metrics, on the server of MLFLOW_TRACKING_URI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.exports.publishing import reported
from loadgen.sessions.extra_packages import importing

if TYPE_CHECKING:
    from loadgen.plugins.exports.publishing import RunRecord
    from loadgen.sessions.settings.export import ExportSettings

_OPTION: Final = "--to mlflow"
_SECRETS: Final = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
_RUN_ID: Final = "loadgen.run_id"
_DEFAULT_EXPERIMENT: Final = "loadgen"
_LONGEST_PARAM: Final = 6000
_PARAMS_AT_ONCE: Final = 100


def publish(settings: ExportSettings, record: RunRecord) -> str:
    """Publish a run; see `Publish`."""
    with importing(_OPTION, "mlflow"):
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    with reported(_OPTION, (MlflowException,), _SECRETS):
        client = MlflowClient()
        name = settings.project or _DEFAULT_EXPERIMENT
        experiment = client.get_experiment_by_name(name)
        experiment_id = experiment.experiment_id if experiment else client.create_experiment(name)
        run_id = _run_id(client, experiment_id, settings, record)
        _log(client, run_id, record)
        client.set_terminated(run_id, "FINISHED", record.ended_ms)
    return f"experiment {name}, run {run_id}"


def _run_id(client: Any, experiment_id: str, settings: ExportSettings, record: RunRecord) -> str:
    """The run that has this record already, or a new one."""
    existing = client.search_runs([experiment_id], f"tags.`{_RUN_ID}` = '{record.run_id}'")
    if existing:
        return str(existing[0].info.run_id)
    tags = {_RUN_ID: record.run_id, **dict.fromkeys(settings.tag, "true")}
    if settings.group:
        tags["group"] = settings.group
    run = client.create_run(experiment_id, record.started_ms, tags, record.name)
    return str(run.info.run_id)


def _log(client: Any, run_id: str, record: RunRecord) -> None:
    from mlflow.entities import Metric, Param

    params = [Param(name, str(value)[:_LONGEST_PARAM]) for name, value in record.config.items()]
    metrics = [Metric(name, value, record.ended_ms, 0) for name, value in record.figures.items()]
    for start in range(0, len(params), _PARAMS_AT_ONCE):
        client.log_batch(run_id, params=params[start : start + _PARAMS_AT_ONCE])
    client.log_batch(run_id, metrics=metrics)
