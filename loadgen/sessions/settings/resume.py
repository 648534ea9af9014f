"""The options of `loadgen resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from lazy_dataclasses import dataclass, field
from loadgen.sessions.settings.cluster import CLUSTER
from loadgen.sessions.settings.endpoint_options import API_KEYS
from loadgen.sessions.settings.episode_options import UserApiKey
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import GENERAL
from loadgen.sessions.settings.output import NoLive
from loadgen.sessions.settings.run_argument import Run
from loadgen.sessions.settings.scoring import SCORING, AllowCodeExecution, JudgeApiKey


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumeSettings:
    """The options of `loadgen resume`; all others are in the log."""

    run: Run
    api_key: str | None = GENERAL.option(
        "The key, which is not in the log; better given in the environment, or as @FILE.",
        envvar=API_KEYS,
        secret=True,
    )
    header: list[str] = GENERAL.option(
        "A secret header of the run, which the log does not contain; repeatable.",
        [],
        metavar="'NAME: VALUE'|@FILE",
        secret=True,
    )
    prompts: Path | None = GENERAL.option("The new path of the prompts, or the trace, if moved.")
    data: Path | None = GENERAL.option("The new folder of the benchmarks' data, if moved.", metavar="DIR")
    allow_code_execution: AllowCodeExecution = False
    sandbox: Literal["local", "docker", "none"] | None = SCORING.option(
        "Where to run programs. Default: as in the run, but never none."
    )
    judge_api_key: JudgeApiKey = field(default=None, repr=False)
    user_api_key: UserApiKey = field(default=None, repr=False)
    ray: str | None = CLUSTER.option(
        "For a run of several machines: address of the Ray cluster. Default: as in the run.",
        metavar="auto|ADDRESS",
    )
    nodes: int | None = CLUSTER.option("With --ray: the number of nodes. Default: as in the run.")
    json: Json = False
    quiet: bool = GENERAL.switch("No progress.", "-q")
    no_live: NoLive = False
