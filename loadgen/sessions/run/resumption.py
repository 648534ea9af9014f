"""From the log of an interrupted run to a session that finishes the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.load import later
from loadgen.driver.requests.order import order_of
from loadgen.driver.requests.remaining import remaining
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.files.run_folder import folder_of, require_log, still_running
from loadgen.sessions.run.preparation import Prepared, prepare
from loadgen.sessions.run.sensors import own_page
from loadgen.sessions.settings.perf import PerfSettings, settings_from_stored
from recorder.event import EventType
from recorder.schema import encode
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from reporter.json_values import members, texts
from reporter.log.so_far import RunSoFar, so_far
from workloads.hugging_face import PREFIX
from workloads.units import duration_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.observer import Observer
    from loadgen.sessions.settings.resume import ResumeSettings


MOST_LEFT: Final = 10_000_000
"""The most requests of a run that can be resumed: they are checked one by one."""

_SHORTEST_S: Final = 0.001


def resumable(path: Path) -> RunSoFar:
    """Read the settings and the progress of a run.

    Raises:
        BeingWrittenError: It is still running.
        UsageError: It is complete, or had no number of requests; the message says what to do.
        LogError: It is not a run.
    """
    run = so_far(path)
    _require_resumable(path, run)
    require_log(path, "a run is resumed in its log, so it takes its events.db")
    return run


def resumed_settings(settings: ResumeSettings, run: RunSoFar) -> PerfSettings:
    """The settings of a run, with newly given secrets and changed options."""
    options = {
        **run.settings["options"],
        "url": run.settings.get("urls") or [run.settings["url"]],
        "workers": run.settings["workers"],
        "connection": run.settings.get("connection", "keep"),
        "api_key": settings.api_key,
        "header": settings.header,
        "judge_api_key": settings.judge_api_key,
        "user_api_key": settings.user_api_key,
        "allow_code_execution": settings.allow_code_execution,
        "sandbox": settings.sandbox or _logged_sandbox(run.settings["options"]),
        "json": settings.json,
        "quiet": settings.quiet,
    }
    options |= _cluster_options(settings, options)
    facts = (run.settings.get("dataset") or {}).get("facts") or {}
    if options.get("media_seed") is None and "media" in facts:
        options["media_seed"] = facts["media"].get("seed")
    if settings.prompts is not None:
        if options.get(_source(options)) is None:
            raise UsageError(f"--prompts {settings.prompts}: the run had synthetic prompts; omit --prompts")
        options[_source(options)] = str(settings.prompts)
    if settings.data is not None:
        if not options.get("task"):
            raise UsageError(f"--data {settings.data}: the run has no benchmarks; leave it out")
        options["data"] = str(settings.data)
    return _settings(options, run)


def _logged_sandbox(options: Mapping[str, Any]) -> str:
    """The sandbox of the run; not `none`, which only the user of this machine can allow."""
    return "docker" if options.get("sandbox") == "docker" else "local"


def _cluster_options(settings: ResumeSettings, options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {"ray": settings.ray, "nodes": settings.nodes}
    options_now = {name: value for name, value in chosen.items() if value is not None}
    if options_now and options.get("ray") is None:
        raise UsageError(f"--{min(options_now)}: the run had one machine; leave it out")
    return options_now


def prepare_resumption(settings: ResumeSettings, run: RunSoFar) -> Prepared:
    """Prepare the rest of a run."""
    prepared = prepare(resumed_settings(settings, run))
    logged = texts(run.settings.get("server_metrics_found"))
    # Only pages of the endpoint: a log may come from elsewhere.
    pages = dict.fromkeys(page for page in map(own_page, prepared.targets) if page in logged)
    prepared = replace(prepared, metrics_pages=tuple(pages))
    _require_the_same(prepared, run)
    return _rest(prepared, run)


def _require_resumable(path: Path, run: RunSoFar) -> None:
    folder = folder_of(path)
    if run.ended == "running":
        raise still_running(folder)
    if is_complete(run) and not is_to_be_scored(run):
        raise UsageError(
            f"{folder} is complete: there is nothing to resume; `loadgen report {folder}` reports it"
        )
    if not _can_be_resumed(run.settings):
        raise UsageError(
            f"{folder} does not say how it was started: only a run of `loadgen perf` can be resumed"
        )
    if not is_complete(run) and not _has_count(run.settings):
        raise UsageError(
            f"{folder} was to last {duration_text(run.settings['duration_s'])}. Duration-based runs cannot "
            "be resumed. Start a new run; one with --requests or --sessions can be resumed"
        )


def announce_rest(prepared: Prepared, observer: Observer) -> None:
    """Announce the remaining part of a run."""
    what = "requests" if prepared.plan.sessions is None else "conversations"
    where = printable(" and ".join(target.url for target in prepared.targets))
    observer.progress(f"resuming: {prepared.plan.count} {what} remaining for {where}")
    if prepared.perf.verdict.abort_on_fail:
        observer.progress("note: --abort-on-fail does not watch a resumed run, which continues to the end")


def is_complete(run: RunSoFar) -> bool:
    """Whether every planned request has a result.

    Nodes that continued without a lost one have issued their own shares only.
    """
    if run.ended != "completed" or members(run.settings.get("options")).get("on_node_loss") != "continue":
        return run.ended == "completed"
    wanted = run.settings.get("sessions") or run.settings.get("requests")
    return not isinstance(wanted, int) or _has_duration(run.settings) or sum(run.settled.values()) >= wanted


def is_to_be_scored(run: RunSoFar) -> bool:
    """Whether a run asked benchmarks, and the answers are not fully scored."""
    return isinstance(run.settings.get("accuracy"), dict) and not run.scored


def _has_count(settings: Mapping[str, Any]) -> bool:
    return isinstance(settings.get("requests"), int) or isinstance(settings.get("sessions"), int)


def _has_duration(settings: Mapping[str, Any]) -> bool:
    return isinstance(settings.get("duration_s"), int | float)


def _can_be_resumed(settings: Mapping[str, Any]) -> bool:
    """Whether settings suffice to resume a run of `loadgen perf`."""
    if settings.get("command") != "perf" or not all(
        isinstance(settings.get(name), kind) for name, kind in _KINDS.items()
    ):
        return False
    names = (*settings["headers"], settings["dataset"].get("name"), settings["dataset"].get("sha256"))
    limited = _has_count(settings) or _has_duration(settings)
    return limited and all(isinstance(name, str) for name in names)


_KINDS: Final[Mapping[str, type]] = {
    "url": str,
    "workers": int,
    "headers": list,
    "dataset": dict,
    "options": dict,
}


def _settings(options: Mapping[str, Any], run: RunSoFar) -> PerfSettings:
    """The settings of the run, if the prompts are still in place."""
    source, name = _source(options), run.settings["dataset"]["name"]
    file = options.get(source)
    if file is not None and not file.startswith(PREFIX):
        path = Path(file)
        if source == "prompts" and not path.is_file():
            raise UsageError(
                f"the prompts of the run, {file}, are not there: say where {name} is with --prompts"
            )
        if source == "trace" and not path.exists():
            raise UsageError(
                f"the trace of the run, {file}, is not there: say where {name} is with --prompts"
            )
    folders = {name: Path(options[name]) for name in ("data", "shards") if options.get(name) is not None}
    options = {**options, **folders}
    return settings_from_stored(options)


def _source(options: Mapping[str, Any]) -> str:
    """The option that names the prompts, which `--prompts` of `loadgen resume` overrides."""
    return "prompts" if options.get("trace") is None else "trace"


def _require_the_same(prepared: Prepared, run: RunSoFar) -> None:
    had, has = (
        {name.lower(): name for name in names}
        for names in (run.settings["headers"], prepared.targets[0].headers)
    )
    if missing := [had[name] for name in sorted(had.keys() - has.keys())]:
        raise UsageError(
            f"the run's log lacks the value of the header {', '.join(missing)}; give the header again, "
            "with --header 'NAME: VALUE', or --api-key or LOADGEN_API_KEY for the key"
        )
    if further := [has[name] for name in sorted(has.keys() - had.keys())]:
        raise UsageError(
            f"the run did not send the header {', '.join(further)}: leave it out (a key may come from the "
            "environment: LOADGEN_API_KEY, OPENAI_API_KEY)"
        )
    settings, dataset = orjson.loads(encode(prepared.settings())), run.settings["dataset"]
    if settings["dataset"]["sha256"] != dataset["sha256"]:
        options = settings["options"]
        if options.get("task"):
            instead = "say where the same data is with --data"
        elif options.get(_source(options)) is not None:
            instead = "say where the same file is with --prompts"
        else:
            instead = "put the files that they are made from (--corpus, histogram:FILE) back as they were"
        raise UsageError(
            f"the prompts differ from the run's: {dataset['name']} had the checksum "
            f"{dataset['sha256'][:16]}…, and now it is {prepared.dataset.sha256[:16]}…; {instead}"
        )
    for name in sorted(run.settings.keys() - _MAY_DIFFER):
        if settings.get(name) != run.settings[name]:
            if name in {"load", "duration_s"} and settings["options"].get("stages") is not None:
                raise UsageError(
                    f"the stages in {settings['options']['stages']} differ from the run's: restore the file"
                )
            raise UsageError(
                f"the run had {name} {run.settings[name]}, and now it would be {settings.get(name)}: resume "
                "it with the version that started it"
            )


_MAY_DIFFER: Final = frozenset(
    {"accuracy", "changed_options", "dataset", "headers", "options", "ruleset", "skip"}
)
"""Settings that are checked elsewhere, or taken from the log: the rules, and how answers are scored."""


def _rest(prepared: Prepared, run: RunSoFar) -> Prepared:
    plan, dataset = prepared.plan, prepared.dataset
    assert plan.count is not None  # noqa: S101 (the log has been looked at)
    if plan.count > MOST_LEFT:
        raise UsageError(
            f"the run has {plan.count} requests: runs of more than {MOST_LEFT} cannot be resumed"
        )
    order = order_of(plan.order, len(dataset.samples), plan.seed, dataset.weights)
    left = remaining(plan.count, plan.first, order, run.settled)
    duration_s = None if plan.duration_s is None else plan.duration_s - run.measured_s
    if left and duration_s is not None and duration_s < _SHORTEST_S:
        raise UsageError(
            f"the run's duration of {plan.duration_s:g} s is over, with {len(left)} requests left; report "
            "the run as it is, or start again"
        )
    if not left:
        return replace(prepared, left=(), after_seq=run.last_seq, logged_questions=run.questions)
    rest = replace(
        plan,
        load=later(plan.load, run.measured_s),
        requests=None if plan.requests is None else len(left),
        sessions=None if plan.sessions is None else len(left),
        duration_s=duration_s,
    )
    elapsed_s = run.measured_s
    return replace(
        prepared,
        plan=rest,
        left=left,
        elapsed_s=elapsed_s,
        after_seq=run.last_seq,
        logged_questions=run.questions,
    )


def end_log(prepared: Prepared, folder: Path) -> None:
    """Close a log that has everything but an end: a segment in which nothing was left to do."""
    import time

    with EventRecorder(
        path=folder / LOG_NAME, environment=environment(), resume=True, after_seq=prepared.after_seq
    ) as recorder:
        recorder.record_event(EventType.TEST_STARTED, time.monotonic_ns())
        recorder.record_event(EventType.TEST_ENDED, time.monotonic_ns(), data={"reason": "completed"})
