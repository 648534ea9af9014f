"""Prompt options of the command line: contradictions are refused, the rest is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import PerfSettings, perf_settings, settings_from_stored, stored_options
from workloads.errors import ColumnError, WorkloadError

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.run.preparation import Prepared


def settings(**options: Any) -> PerfSettings:
    """Settings for some endpoint."""
    return perf_settings(url=["http://host.invalid"], model="m", **options)


def prepared(tmp_path: Path, *rows: Any, **options: Any) -> Prepared:
    """Prepare a session with a file of prompts."""
    file = tmp_path / "q.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return prepare(settings(prompts=str(file), **options))


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"prompt_column": "a", "tag": ["b"]}, "--prompt-column and --tag: applies to the rows of a file"),
    ({"conversations": "last"}, "--conversations: applies to the rows"),
    ({"prompts": "q", "trace": "t"}, "--prompts and --trace contradict each other"),
    ({"prompts": "q", "input_tokens": "5", "corpus": "c"}, "--input-tokens and --corpus: only for synthetic"),
    ({"trace": "t", "turns": "2"}, "--turns: a trace has its own lengths"),
    ({"output_tokens": "5", "max_tokens": 5}, "--max-tokens and --output-tokens contradict each other"),
    ({"prompts": "q", "order": "weighted"}, "with --weight-column"),
    ({"prompts": "q", "weight_column": "w"}, "--weight-column is for --order weighted"),
    ({"trace": "t", "order": "shuffle"}, "--order shuffle: a trace has its own order"),
    ({"agentic": "default", "trace": "t"}, "--agentic has lengths and turns: leave --trace or"),
    ({"agentic": "default", "turns": "2"}, "--agentic has lengths and turns: leave --turns or"),
    ({"agentic": "default", "prompts": "q"}, "--agentic: only for synthetic prompts"),
    ({"history": "live"}, "--history live: describes the sessions of a trace: give --trace"),
    ({"prompts": "q", "history": "recorded"}, "give --conversations all"),
    ({"prompts": "q", "tag": ["a", "a"]}, "each column once"),
    ({"only_prompt": -1}, "--only-prompt -1: must be 0 or more"),
    ({"only_prompt": 0, "trace": "t"}, "--only-prompt: a trace sends all"),
    ({"only_prompt": 0, "order": "shuffle"}, "--only-prompt: one prompt has no order"),
    ({"ignore_eos": True}, "give --max-tokens, --output-tokens or --output-column"),
    ({"ignore_eos": True, "max_tokens": 5, "protocol": "messages"}, "--protocol messages has no such member"),
]


@pytest.mark.parametrize(("options", "why"), CONTRADICTIONS)
def test_contradictions(options: dict[str, Any], why: str) -> None:
    """Two options of which one would be ignored are an error that names them."""
    with pytest.raises(UsageError) as caught:
        settings(**options)
    assert why in str(caught.value)


def test_options_reach_the_dataset(tmp_path: Path) -> None:
    """Columns, tags, lengths and weights are read as they were named."""
    row = {"q": "a", "s": "b", "n": 4, "w": 2, "kind": "x"}
    columns = {"prompt_column": "q", "system_column": "s", "output_column": "n", "weight_column": "w"}
    ready = prepared(tmp_path, row, **columns, order="weighted", tag=["kind"], ignore_eos=True)
    (sample,) = ready.dataset.samples
    assert (sample.prompt, sample.system, sample.max_tokens, sample.tags) == ("a", "b", 4, {"kind": "x"})
    assert ready.dataset.weights == (2,)
    assert ready.plan.generation.ignore_eos
    assert ready.settings()["ignore_eos"] is True


def test_stored_options_make_the_same_settings(tmp_path: Path) -> None:
    """The log has every option that differs from its default."""
    original = settings(prompts=str(tmp_path / "q.jsonl"), conversations="all", history="recorded", tag=["a"])
    assert settings_from_stored(stored_options(original), url=original.endpoint.url) == original


USER, ANSWER = {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
LOOP = [
    USER,
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]


def test_conversations_are_taken_whole(tmp_path: Path) -> None:
    """All turns make a conversation, which starts with the first."""
    ready = prepared(tmp_path, {"messages": [USER, ANSWER, USER]}, conversations="all")
    assert [len(sample.follow_ups) for sample in ready.dataset.samples] == [1]


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ({"messages": [USER, ANSWER, USER]}, {"protocol": "completions"}, "goes with --protocol chat"),
    ({"messages": [USER, ANSWER, USER]}, {"protocol": "json"}, "has no {messages}"),
    (
        {"messages": [USER, ANSWER, USER]},
        {"protocol": "completions", "conversations": "all"},
        "goes with --protocol chat",
    ),
    ({"token_ids": [1]}, {}, "go with --protocol completions"),
    ({"messages": LOOP}, {"conversations": "all"}, "give --history recorded"),
    (
        {"messages": [USER, ANSWER, {**USER, "name": "Ann"}]},
        {"protocol": "messages", "conversations": "all"},
        "has `name`",
    ),
    ({"prompt": "a", "n": None}, {"output_column": "n", "ignore_eos": True}, "give --max-tokens"),
]


@pytest.mark.parametrize(("row", "options", "why"), REFUSED)
def test_rows_that_cannot_be_sent(tmp_path: Path, row: Any, options: dict[str, Any], why: str) -> None:
    """They are refused before the first request, with the row."""
    sound = {**row, "messages": [USER]} if "messages" in row else row
    with pytest.raises(UsageError) as caught:
        prepared(tmp_path, sound, row, **options)
    assert str(caught.value).startswith("q.jsonl, row ")
    assert why in str(caught.value)


def test_results_of_tools_with_the_recorded_calls(tmp_path: Path) -> None:
    """They fit, where the recorded answers take the endpoint's place."""
    options = {"conversations": "all", "history": "recorded"}
    ready = prepared(tmp_path, {"messages": LOOP}, **options)
    assert len(ready.dataset.samples[0].follow_ups) == 1


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    """The file's own complaint comes through."""
    with pytest.raises(ColumnError, match="no column 'kinds'"):
        prepared(tmp_path, {"prompt": "a", "kind": "b"}, tag=["kinds"])


def test_a_dataset_of_the_hub() -> None:
    """An invalid reference is refused like any other bad source."""
    with pytest.raises(WorkloadError, match=r"hf:NAME:CONFIG:SPLIT"):
        prepare(settings(prompts="hf:"))


def test_one_prompt_alone(tmp_path: Path) -> None:
    """Of a file or of made-up ones it is the only sample, as often as there are requests."""
    ready = prepared(tmp_path, {"prompt": "a"}, {"prompt": "b"}, only_prompt=1, requests=5)
    (sample,) = ready.dataset.samples
    assert (sample.index, sample.prompt, ready.plan.requests) == (0, "b", 5)
    assert ready.settings()["dataset"]["facts"]["only_prompt"] == 1
    (made,) = prepare(settings(only_prompt=7, requests=2, text_seed=5)).dataset.samples
    assert made.prompt == prepare(settings(requests=8, text_seed=5)).dataset.samples[7].prompt
    with pytest.raises(UsageError, match=r"--only-prompt 2: q.jsonl has 2 prompts"):
        prepared(tmp_path, {"prompt": "a"}, {"prompt": "b"}, only_prompt=2)
