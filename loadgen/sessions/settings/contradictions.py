"""Options of several concerns that contradict each other, or are out of bounds, and what to type instead.

`loadgen perf` checks them only where one of these concerns differs from the defaults.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.protocols import names_where
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from recorder.errors import LogError

if TYPE_CHECKING:
    from loadgen.sessions.settings.benchmark_options import TaskSettings
    from loadgen.sessions.settings.cluster import ClusterSettings
    from loadgen.sessions.settings.endpoint_options import EndpointSettings, EndpointsSettings
    from loadgen.sessions.settings.episode_options import EpisodeSettings
    from loadgen.sessions.settings.load_options import LoadSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from loadgen.sessions.settings.scoring import JudgeSettings, ScorerSettings
    from loadgen.sessions.settings.verdict_options import VerdictSettings

MOST_REPEATS: Final = 100_000
MOST_NODES: Final = 10_000
MOST_JUDGE_CONCURRENCY: Final = 10_000
MOST_JUDGE_TIMEOUT_S: Final = 86_400.0
MOST_JUDGE_TEMPERATURE: Final = 10.0
MOST_JUDGE_TOKENS: Final = 10_000_000

_VECTORS: Final = ("batch", "query_tokens", "query_column", "save_vectors", "expect")
_COLUMNS: Final = ("prompt_column", "system_column", "output_column", "weight_column")
_OF_SESSIONS: Final = ("cumulative", "live", "messages")
_LENGTHS: Final = ("input_tokens", "output_tokens", "turns", "shared_prefix", "cache_hit")

_OF_SANDBOXES: Final = ("allow_code_execution", "sandbox", "sandbox_image")
_OF_BENCHMARKS: Final = (
    *("data", "samples", "sample_order", "system_prompt", "offset", "split", "record_ids", "repeats"),
    *("columns", "scorer", "eval_function", "pass_threshold", "judge_url", "judge_concurrency"),
    *("judge_timeout", "judge_temperature", "judge_max_tokens"),
)
"""Options that need a benchmark; an agent needs a sandbox without one, too."""

_OTHER_QUESTIONS: Final = (*_LENGTHS, "corpus", "text_seed", "tokenizer")


def check_prompts(
    prompts: PromptSettings,
    endpoint: EndpointSettings,
    load: LoadSettings,
    max_tokens: int | None,
    *,
    has_own_data: bool,
) -> None:
    """Refuse options that contradict each other."""
    if prompts.prompts is not None and load.trace is not None:
        raise UsageError("--prompts and --trace contradict each other: each names the prompts")
    _check_empty(prompts, load.trace)
    _check_columns(prompts, has_own_data=has_own_data)
    _check_synthetic(prompts, load.trace, max_tokens)
    _check_order(prompts, load)
    if prompts.history in _OF_SESSIONS and load.trace is None:
        raise UsageError(f"--history {prompts.history}: describes the sessions of a trace: give --trace")
    if prompts.history == "recorded" and prompts.conversations != "all" and load.trace is None:
        raise UsageError(
            "--history recorded applies to the later turns of conversations: give --conversations all"
            if prompts.turns is None
            else "--history recorded: made-up conversations have no recorded answers; leave it out"
        )
    _check_ignore_eos(prompts, endpoint, load.trace, max_tokens)
    if (chosen := set_flags(prompts, *_VECTORS)) and not endpoint.protocol_entry.inputs:
        names = names_where(lambda each: bool(each.inputs))
        raise UsageError(
            f"{' and '.join(chosen)}: --protocol {endpoint.protocol} asks for text; {names} ask for "
            "vectors or scores"
        )


def _check_empty(prompts: PromptSettings, trace: str | None) -> None:
    if trace is not None and not trace.strip():
        raise UsageError(f"--trace {trace!r}: is empty; give a value, or leave the option out")
    for name in ("prompts", *_COLUMNS, *_LENGTHS, "agentic", "tokenizer"):
        text = getattr(prompts, name)
        if text is not None and not text.strip():
            (option,) = set_flags(prompts, name)
            raise UsageError(f"{option} {text!r}: is empty; give a value, or leave the option out")


def _check_columns(prompts: PromptSettings, *, has_own_data: bool) -> None:
    columns = set_flags(
        prompts, *_COLUMNS, *(() if has_own_data else ("tag",)), "conversations", "strict_prompts"
    )
    if prompts.prompts is None and columns:
        raise UsageError(f"{' and '.join(columns)}: applies to the rows of a file or dataset: give --prompts")
    if len(set(prompts.tag)) < len(prompts.tag):
        raise UsageError(f"--tag {' --tag '.join(prompts.tag)}: each column once")


def _check_synthetic(prompts: PromptSettings, trace: str | None, max_tokens: int | None) -> None:
    if prompts.cache_hit is None and set_flags(prompts, "cache_block"):
        raise UsageError(f"--cache-block {prompts.cache_block}: applies to --cache-hit: give both or none")
    lengths = set_flags(prompts, *_LENGTHS)
    if prompts.agentic is not None and (lengths or trace is not None):
        other = "--trace" if trace is not None else " and ".join(lengths)
        raise UsageError(f"--agentic has lengths and turns: leave {other} or --agentic out")
    synthetic = " and ".join([*lengths, *set_flags(prompts, "agentic", "corpus", "text_seed")])
    if prompts.prompts is not None and synthetic:
        raise UsageError(f"{synthetic}: only for synthetic prompts, and cannot be combined with --prompts")
    lengths += [] if max_tokens is None else ["--max-tokens"]
    if trace is not None and lengths:
        raise UsageError(f"{' and '.join(lengths)}: a trace has its own lengths: leave --trace out, or these")
    if prompts.output_tokens is not None and max_tokens is not None:
        raise UsageError("--max-tokens and --output-tokens contradict each other: both bound the output")


def _check_order(prompts: PromptSettings, load: LoadSettings) -> None:
    if prompts.order == "weighted" and prompts.weight_column is None:
        raise UsageError("--order weighted: name the column of the weights with --weight-column")
    if prompts.weight_column is not None and prompts.order != "weighted":
        raise UsageError("--weight-column is for --order weighted: give both or none")
    if prompts.only_prompt is not None:
        _check_only_prompt(prompts, prompts.only_prompt, load.trace)
    if prompts.order != "in-order" and load.has_recorded_times:
        raise UsageError(f"--order {prompts.order}: a trace has its own order")
    if prompts.order in {"random", "weighted"} and load.passes is not None:
        raise UsageError(
            f"--passes {load.passes}: sends each prompt equally often, and --order {prompts.order} "
            "draws them: give their number with --requests or --sessions"
        )


def _check_only_prompt(prompts: PromptSettings, number: int, trace: str | None) -> None:
    if number < 0:
        raise UsageError(f"--only-prompt {number}: must be 0 or more")
    if trace is not None:
        raise UsageError("--only-prompt: a trace sends all of its requests, in its own order; leave one out")
    if prompts.order != "in-order":
        raise UsageError(f"--only-prompt: one prompt has no order; leave --order {prompts.order} out")


def _check_ignore_eos(
    prompts: PromptSettings, endpoint: EndpointSettings, trace: str | None, max_tokens: int | None
) -> None:
    if not prompts.ignore_eos:
        return
    if not endpoint.protocol_entry.ignore_eos:
        having = names_where(lambda each: each.ignore_eos)
        raise UsageError(
            f"--ignore-eos: --protocol {endpoint.protocol} has no such member; {having} have it "
            "(of vLLM, SGLang and others); elsewhere, use --extra-body with the server's own member"
        )
    bounded = (max_tokens, prompts.output_tokens, prompts.output_column, prompts.agentic, trace)
    if all(bound is None for bound in bounded):
        raise UsageError(
            "--ignore-eos: the output then has exactly its maximum of tokens, which is not set: "
            "give --max-tokens, --output-tokens or --output-column"
        )


def check_tasks(tasks: TaskSettings, prompts: PromptSettings, load: LoadSettings, *, has_agent: bool) -> None:
    """Refuse options that contradict each other."""
    if tasks.task:
        _check_questions(tasks, prompts, load)
    elif set_options := set_flags(tasks, *(() if has_agent else _OF_SANDBOXES), *_OF_BENCHMARKS):
        raise UsageError(
            f"{' and '.join(set_options)}: applies to benchmarks: give --task, or use loadgen accuracy"
        )
    if not math.isfinite(tasks.pass_threshold):
        raise UsageError(f"--pass-threshold {tasks.pass_threshold}: must be a number")
    check_judge(tasks.judge)
    check_scorers(tasks.scoring)


def _check_questions(tasks: TaskSettings, prompts: PromptSettings, load: LoadSettings) -> None:
    others = [
        *set_flags(prompts, "prompts"),
        *set_flags(load, "trace"),
        *set_flags(prompts, *_OTHER_QUESTIONS),
    ]
    if others:
        raise UsageError(f"--task and {' and '.join(others)} contradict each other: each names the prompts")
    if changed := set_flags(prompts, "salt", "ignore_eos"):
        raise UsageError(f"{' and '.join(changed)}: changes the benchmark's questions; leave it out")
    if prompts.only_prompt is not None:
        raise UsageError(
            f"--only-prompt {prompts.only_prompt}: of a benchmark, --offset {prompts.only_prompt} "
            "--samples 1 asks one question"
        )
    if tasks.columns and not tasks.has_own_data:
        raise UsageError(
            "--map: applies to the columns of a file, and benchmarks have their own; leave it out"
        )
    if tasks.record_ids and (tasks.samples is not None or tasks.offset or len(tasks.task) > 1):
        raise UsageError(
            "--record-ids names the questions of one benchmark: leave --samples and --offset out, and "
            "name one --task"
        )
    if tasks.record_ids and not tasks.wanted_ids:
        raise UsageError("--record-ids: no id is in it; leave it out")
    _check_counts(tasks, prompts, load)


def _check_counts(tasks: TaskSettings, prompts: PromptSettings, load: LoadSettings) -> None:
    if tasks.sample_order is not None and tasks.samples is None:
        raise UsageError(f"--sample-order {tasks.sample_order}: says which --samples are asked; give both")
    if tasks.samples is not None and tasks.samples < 1:
        raise UsageError(f"--samples {tasks.samples}: must be 1 or more")
    if tasks.offset < 0:
        raise UsageError(f"--offset {tasks.offset}: must be 0 or more")
    if tasks.repeats is None:
        return
    if not 1 <= tasks.repeats <= MOST_REPEATS:
        raise UsageError(f"--repeats {tasks.repeats}: must be from 1 to {MOST_REPEATS:,}")
    if counts := " and ".join(set_flags(load, "requests", "sessions", "passes")):
        raise UsageError(f"--repeats and {counts} contradict each other: each sets the number of requests")
    if prompts.order in {"random", "weighted"}:
        raise UsageError(
            f"--repeats {tasks.repeats}: sends each question equally often, and --order "
            f"{prompts.order} draws them"
        )


def check_scorers(scorers: ScorerSettings) -> None:
    """Refuse an image without containers."""
    if scorers.sandbox_image is not None and scorers.sandbox != "docker":
        raise UsageError(f"--sandbox-image {scorers.sandbox_image}: needs --sandbox docker")


def check_judge(judge: JudgeSettings) -> None:
    """Refuse half a judge, and limits that are out of bounds."""
    url, concurrency, timeout_s = judge.judge_url, judge.judge_concurrency, judge.judge_timeout
    temperature, limit = judge.judge_temperature, judge.judge_max_tokens
    if (url is None) != (judge.judge_model is None):
        present_option, missing = ("url", "model") if judge.judge_model is None else ("model", "url")
        raise UsageError(
            f"--judge-{present_option}: a judge is an endpoint and a model: give --judge-{missing} too"
        )
    if url is None and (temperature is not None or limit is not None):
        option = "--judge-max-tokens" if temperature is None else "--judge-temperature"
        raise UsageError(f"{option}: needs a judge: give --judge-url and --judge-model too")
    if not 1 <= concurrency <= MOST_JUDGE_CONCURRENCY:
        raise UsageError(f"--judge-concurrency {concurrency}: must be from 1 to {MOST_JUDGE_CONCURRENCY}")
    if not 0 < timeout_s <= MOST_JUDGE_TIMEOUT_S:
        raise UsageError(f"--judge-timeout {timeout_s:g}: must be above 0 and at most a day")
    if temperature is not None and not 0 <= temperature <= MOST_JUDGE_TEMPERATURE:
        raise UsageError(f"--judge-temperature {temperature:g}: must be from 0 to {MOST_JUDGE_TEMPERATURE:g}")
    if limit is not None and not 1 <= limit <= MOST_JUDGE_TOKENS:
        raise UsageError(f"--judge-max-tokens {limit}: must be from 1 to {MOST_JUDGE_TOKENS:,}")


def check_episodes(episodes: EpisodeSettings, load: LoadSettings, workers: int | None) -> None:
    """Refuse options that contradict each other."""
    if episodes.agent is not None and episodes.agent_command is not None:
        raise UsageError("--agent and --agent-command contradict each other: each plays every sample")
    if episodes.agent is not None and ":" not in episodes.agent:
        raise UsageError(
            f"--agent {episodes.agent}: not MODULE:ATTRIBUTE; for an agent by name type: --agent-command "
            f"'@jarvis-agent --agent {episodes.agent}' (see `loadgen list agents`)"
        )
    if (episodes.user_url is None) != (episodes.user_model is None):
        present, missing = ("url", "model") if episodes.user_model is None else ("model", "url")
        raise UsageError(f"--user-{present}: the simulated user needs both; give --user-{missing} too")
    for option, number in (
        ("--max-turns", episodes.max_turns),
        ("--max-episode-tokens", episodes.max_episode_tokens),
        ("--max-episode-time", episodes.max_episode_time),
        ("--max-episode-cost", episodes.max_episode_cost),
    ):
        if number is not None and number <= 0:
            raise UsageError(f"{option} {number:g}: must be above 0")
    if (episodes.max_episode_cost is None) != (episodes.episode_prices is None):
        raise UsageError("--max-episode-cost and --episode-prices go together: give both")
    if episodes.sequential and ((load.concurrency or 1) != 1 or (workers or 1) != 1 or load.offline):
        raise UsageError("--sequential plays one sample at a time: give --concurrency 1, and 1 worker")


def check_cluster(
    cluster: ClusterSettings,
    endpoint: EndpointsSettings,
    episodes: EpisodeSettings,
    verdict: VerdictSettings,
) -> None:
    """Refuse what works on one machine only."""
    from reporter.log.storage_place import store_address

    if cluster.ray is None:
        for option, is_given in (
            ("--shards", cluster.shards is not None),
            ("--on-node-loss continue", cluster.on_node_loss != "stop"),
        ):
            if is_given:
                raise UsageError(f"{option}: of several machines, which only a run with --ray has")
    if cluster.shards is not None:
        try:
            store_address(cluster.shards)
        except LogError as error:
            raise UsageError(f"--shards {error}") from error
    check_nodes(cluster.ray, cluster.nodes, "perf")
    if cluster.ray is None:
        return
    if verdict.abort_on_fail and (cluster.shards is None or store_address(cluster.shards) is not None):
        raise UsageError(
            "--abort-on-fail reads the nodes' logs during the run; give --shards PATH, a folder that all "
            "nodes share, or leave --abort-on-fail out"
        )
    refused = {
        "--sequential": episodes.sequential,
        "--debug": episodes.debug,
        "--url litellm:": any(url.startswith("litellm:") for url in endpoint.urls),
    }
    for option, is_given in refused.items():
        if is_given:
            raise UsageError(f"{option}: works on one machine only: leave it out, or --ray")


def check_nodes(ray: str | None, nodes: int | None, command: str) -> None:
    """Refuse an address or a number of nodes that cannot be used."""
    if ray is None and nodes is not None:
        raise UsageError("--nodes: of several machines, which only a run with --ray has")
    if ray is not None and ray.startswith("ray://"):
        raise UsageError(
            f"--ray {ray}: Ray's client cannot be used: start on a node of the cluster, as with "
            f"`ray job submit -- loadgen {command} --ray auto …`"
        )
    if nodes is not None and not 1 <= nodes <= MOST_NODES:
        raise UsageError(f"--nodes {nodes}: must be from 1 to {MOST_NODES}")
