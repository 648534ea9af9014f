"""The options of `loadgen resume`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from loadgen.sessions.settings.cluster import CLUSTER
from loadgen.sessions.settings.endpoint import API_KEYS
from loadgen.sessions.settings.episodes import UserApiKey
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.output import NoLive
from loadgen.sessions.settings.run_argument import Run
from loadgen.sessions.settings.scoring import SCORING, AllowCodeExecution, JudgeApiKey


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumeSettings:
    """The options of `loadgen resume`; all others are in the log."""

    run: Run
    api_key: Annotated[
        str | None,
        Option(
            envvar=API_KEYS,
            show_envvar=True,
            help="The key, which is not in the log; better given in the environment, or as @FILE.",
        ),
    ] = field(default=None, repr=False)
    header: Annotated[
        list[str],
        Option(
            metavar="'NAME: VALUE'|@FILE",
            help="A secret header of the run, which the log does not contain; repeatable.",
        ),
    ] = field(default_factory=list, repr=False)
    prompts: Annotated[
        Path | None,
        Option(help="The new path of the prompts, or the trace, if moved."),
    ] = None
    data: Annotated[
        Path | None,
        Option(metavar="DIR", help="The new folder of the benchmarks' data, if moved."),
    ] = None
    allow_code_execution: AllowCodeExecution = False
    sandbox: Annotated[
        Literal["local", "docker", "none"] | None,
        Option(help="Where to run programs. Default: as in the run, but never none.", panel=SCORING),
    ] = None
    judge_api_key: JudgeApiKey = field(default=None, repr=False)
    user_api_key: UserApiKey = field(default=None, repr=False)
    ray: Annotated[
        str | None,
        Option(
            metavar="auto|ADDRESS",
            help="For a run of several machines: address of the Ray cluster. Default: as in the run.",
            panel=CLUSTER,
        ),
    ] = None
    nodes: Annotated[
        int | None,
        Option(metavar="N", help="With --ray: the number of nodes. Default: as in the run.", panel=CLUSTER),
    ] = None
    json: Json = False
    quiet: Annotated[bool, Option("--quiet -q", help="No progress.")] = False
    no_live: NoLive = False
