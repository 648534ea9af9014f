"""Runs of an agent loop over rows, scored by functions: the programmatic interface of agent benchmarks."""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agents.contract import RolloutContext, RolloutRequest
from loadgen.plugins.agents.rollout import MAX_TURNS, result_of, tool_schemas
from loadgen.sessions.errors import UsageError
from workloads.episode_program import error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.plugins.agents.llm_client import ExternalLLMClient

ATTEMPTS: Final = (1, 3, 5, 10)
"""The k of pass@k, up to the number of runs."""

DEBUG_DIR: Final = "debug_logs"


@dataclass
class BenchRunResult:
    """One run of one row.

    Attributes:
        run_index: Which run of the row, from 0.
        success: Whether the agent came to its end without an error.
        scores: By the name of the eval function; without those that failed.
        duration_ms: The wall time.
        tokens: Input and output tokens.
        error: The exception that ended it; None without one.
        reported_error: What the agent gave to `ctx.error`; None where it did not.
        failed_evals: Why eval functions failed, by name: they count as 0 in the summaries.
    """

    run_index: int
    success: bool
    scores: dict[str, float] = field(default_factory=dict)
    duration_ms: float = 0.0
    tokens: int = 0
    error: str | None = None
    reported_error: str | None = None
    failed_evals: dict[str, str] = field(default_factory=dict)


@dataclass
class BenchRowResult:
    """All runs of one row."""

    row_index: int
    runs: list[BenchRunResult] = field(default_factory=list)


@dataclass
class BenchEvalSummary:
    """The scores of one eval function: `std` of the population; no `pass_at_k` for one run a row."""

    mean: float = 0.0
    std: float = 0.0
    min: float = 0.0
    max: float = 0.0
    pass_at_k: dict[int, float] = field(default_factory=dict)


@dataclass
class BenchResult:
    """Everything that was run."""

    rows: list[BenchRowResult]
    eval_summaries: dict[str, BenchEvalSummary]
    total_rows: int
    total_runs: int
    total_tokens: int
    total_duration_ms: float
    n_runs: int
    pass_threshold: float


class EvalFnError(UsageError):
    """An eval function has no known signature, or returned something that is not a number."""


class EvalFnWrapper:
    """An eval function under a name.

    Args:
        fn: Takes `(solution_str, ground_truth, extra_info)` or `(messages, ground_truth, metadata)`; may be
            async.

    Raises:
        EvalFnError: Its first parameter is neither `solution_str` nor `messages`.
    """

    def __init__(self, fn: Callable[..., Any], name: str) -> None:
        self.fn = fn
        self.name = name
        first = next(iter(inspect.signature(fn).parameters), None)
        if first not in {"solution_str", "messages"}:
            raise EvalFnError(f"eval function {name}: its first parameter must be solution_str or messages")
        self._takes_messages = first == "messages"

    async def __call__(
        self, messages: Sequence[Mapping[str, Any]], ground_truth: str, metadata: Mapping[str, Any]
    ) -> float:
        """Score a conversation.

        Raises:
            EvalFnError: The function returned something that is not a number.
        """
        arguments: dict[str, Any] = {"ground_truth": ground_truth}
        if self._takes_messages:
            arguments |= {"messages": messages, "metadata": metadata}
        else:
            arguments |= {"solution_str": _final_text(messages), "extra_info": metadata}
        value = self.fn(**arguments)
        if inspect.isawaitable(value):
            value = await value
        if not isinstance(value, int | float):
            raise EvalFnError(f"{self.name} returned {type(value).__name__}, where a number should be")
        return float(value)


class BenchRunner:
    """Runs an agent loop over rows, and scores each run.

    Args:
        debug: Whether the loop's `log_event` writes.
        debug_dir: Where to, whatever `debug` says; by default `debug_logs`.
        llm_client_factory: Makes the clients of runs at once; by default copies.
    """

    def __init__(
        self,
        agent_loop: Any,
        llm_client: ExternalLLMClient,
        eval_fns: Sequence[EvalFnWrapper],
        debug: bool = False,  # noqa: FBT001, FBT002 (the contract)
        debug_dir: str | None = None,
        llm_client_factory: Callable[[], Any] | None = None,
    ) -> None:
        self.agent_loop = agent_loop
        self.llm_client = llm_client
        self.eval_fns = list(eval_fns)
        self.debug = debug
        self.debug_dir = debug_dir or (DEBUG_DIR if debug else None)
        self._client = llm_client_factory or llm_client.copy

    async def run_single(
        self,
        row: Mapping[str, Any],
        row_index: int,
        run_index: int,
        max_turns: int = MAX_TURNS,
        completion_params: Mapping[str, Any] | None = None,
        *,
        llm_client: Any = None,
    ) -> BenchRunResult:
        """Run a row once, and score it.

        Args:
            row: `user_prompt`, `system_prompt` and `ground_truth`, and whatever the functions read.
            row_index: Its number.
            run_index: Which run of it.
            max_turns: The limit that the loop is given.
            completion_params: The sampling settings that it is given.
            llm_client: In place of that of the runner.
        """
        client = self.llm_client if llm_client is None else llm_client
        client.reset_metrics()
        started = time.monotonic()
        request = RolloutRequest(
            rollout_id=f"bench-{row_index}-run-{run_index}",
            server_url="http://127.0.0.1",
            messages=_messages(row),
            completion_params=dict(completion_params or {}),
            max_turns=max_turns,
            metadata={
                "row_index": row_index,
                **{
                    name: value for name, value in row.items() if name not in {"user_prompt", "system_prompt"}
                },
                "execution_mode": "bench",
                "run_index": run_index,
            },
        )
        run = BenchRunResult(run_index, success=False)
        messages: Sequence[Mapping[str, Any]] = ()
        try:
            tools = self.agent_loop.get_tools(request)
            tool_schemas(tools)
            client.set_tools(tools or [])
            context = RolloutContext(request, list(tools or ()), client, _debug_dir=self.debug_dir)
            result = result_of(self.agent_loop, await self.agent_loop.run(context))
            run.success, run.reported_error, messages = result.error is None, result.error, result.messages
        except Exception as error:  # noqa: BLE001 (whatever an agent raises fails its own run only)
            run.error = error_text(error)
        finally:
            client.clear_tools()
        metrics = client.get_metrics()
        run.tokens = metrics.prompt_tokens + metrics.response_tokens
        run.duration_ms = (time.monotonic() - started) * 1e3
        if run.success:
            await self._score(run, messages, row)
        return run

    async def run_bench(
        self,
        rows: Sequence[Mapping[str, Any]],
        n_runs: int = 1,
        max_turns: int = MAX_TURNS,
        completion_params: Mapping[str, Any] | None = None,
        pass_threshold: float = 1.0,
        on_progress: Callable[[int, int, BenchRunResult], None] | None = None,
        start_index: int = 0,
        batch_size: int = 1,
    ) -> BenchResult:
        """Run all rows.

        Args:
            rows: The rows.
            n_runs: How often each is run.
            max_turns: See `run_single`.
            completion_params: See `run_single`.
            pass_threshold: From which score on a run has passed.
            on_progress: Called after each run with how many are done, how many there are, and its result.
            start_index: The number of the first row.
            batch_size: How many runs at once.

        Raises:
            UsageError: A number is below 1.
        """
        for name, number in (("n_runs", n_runs), ("batch_size", batch_size)):
            if number < 1:
                raise UsageError(f"{name} {number}: must be 1 or more")
        started, done, total = time.monotonic(), 0, len(rows) * n_runs
        clients: asyncio.Queue[Any] = asyncio.Queue()
        for _ in range(min(batch_size, max(1, total))):
            clients.put_nowait(self._client() if batch_size > 1 else self.llm_client)

        async def run_one(place: int, run_index: int) -> BenchRunResult:
            nonlocal done
            client = await clients.get()
            try:
                result = await self.run_single(
                    *(rows[place], start_index + place, run_index, max_turns, completion_params),
                    llm_client=client,
                )
            finally:
                clients.put_nowait(client)
            done += 1
            if on_progress is not None:
                on_progress(done, total, result)
            return result

        runs = await asyncio.gather(*(run_one(i, run) for i in range(len(rows)) for run in range(n_runs)))
        results = [
            BenchRowResult(start_index + place, list(runs[place * n_runs : (place + 1) * n_runs]))
            for place in range(len(rows))
        ]
        return BenchResult(
            rows=results,
            eval_summaries={fn.name: _summary(fn.name, results, pass_threshold) for fn in self.eval_fns},
            total_rows=len(rows),
            total_runs=total,
            total_tokens=sum(run.tokens for run in runs),
            total_duration_ms=(time.monotonic() - started) * 1e3,
            n_runs=n_runs,
            pass_threshold=pass_threshold,
        )

    async def _score(
        self, run: BenchRunResult, messages: Sequence[Mapping[str, Any]], row: Mapping[str, Any]
    ) -> None:
        for fn in self.eval_fns:
            try:
                run.scores[fn.name] = await fn(messages, row["ground_truth"], dict(row))
            except Exception as error:  # noqa: BLE001 (whatever a function raises is its own)
                run.scores[fn.name] = 0.0
                run.failed_evals[fn.name] = error_text(error)


def _summary(name: str, rows: Sequence[BenchRowResult], threshold: float) -> BenchEvalSummary:
    """The scores of a function; a run that failed counts as 0."""
    by_row = [[run.scores.get(name, 0.0) for run in row.runs] for row in rows]
    scores = [score for row_scores in by_row for score in row_scores]
    if not scores:
        return BenchEvalSummary()
    runs = min(map(len, by_row))
    passed = [sum(score >= threshold for score in row_scores) for row_scores in by_row]
    pass_at_k = {
        k: fmean(1 - math.comb(runs - count, k) / math.comb(runs, k) for count in passed)
        for k in ATTEMPTS
        if 1 < runs >= k
    }
    return BenchEvalSummary(fmean(scores), pstdev(scores), min(scores), max(scores), pass_at_k)


def _messages(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    system = row.get("system_prompt")
    before = [{"role": "system", "content": system}] if system else []
    return [*before, {"role": "user", "content": row["user_prompt"]}]


def _final_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """The last text that the assistant says."""
    texts = (
        message["content"]
        for message in reversed(messages)
        if message.get("role") == "assistant" and message.get("content") is not None
    )
    return str(next(texts, ""))
