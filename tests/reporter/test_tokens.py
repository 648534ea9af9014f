"""Where token counts come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reporter import MetricsReporter
from reporter.report import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


class Words:
    """A tokenizer whose tokens are words, between marks that it puts around every text."""

    def encode(self, text: str) -> list[str]:
        """The words of a text and the marks."""
        return ["<begin>", *text.split(), "<end>"]


TEXTS = {"output": "one two three", "reasoning": None, "tool_calls": None}


def test_the_server_is_believed(a_run: NewRun) -> None:
    """Where the server sent counts, a tokenizer is not asked."""
    run = a_run().answers(5, 6, usage=(11, 12), texts=TEXTS, issue={"prompt": {"prompt": "a b"}}).ends()
    assert run.report(tokenizer=Words()).tokens == Tokens(11, 12, "server_usage")


def test_a_tokenizer_counts_what_the_server_did_not(a_run: NewRun) -> None:
    """Outputs and prompts are counted from their texts, without the marks around any text."""
    run = a_run().answers(5, 6, texts=TEXTS, issue={"prompt": {"prompt": "a b"}}).ends()
    report = run.report(tokenizer=Words())
    assert report.tokens == Tokens(2, 3, "client_tokenizer")
    assert report.tpot_ms is not None
    assert report.tpot_ms.p50 == 0.5
    assert report.findings == []


def test_reasoning_and_tool_calls_are_output(a_run: NewRun) -> None:
    """Whatever the model wrote was generated, and is counted."""
    texts = {"output": "one", "reasoning": "let me see", "tool_calls": [{"name": "f"}]}
    run = a_run().answers(5, texts=texts).answers(5, texts={**TEXTS, "output": ""}).ends()
    assert run.report(tokenizer=Words()).tokens.output == 1 + 3 + 1


def test_a_prompt_counts_for_every_request_that_asked_it(a_run: NewRun) -> None:
    """The text of a prompt is logged once, its tokens are taken in each time; media have no text."""
    parts = [{"type": "image_url", "image_url": {"url": "an image"}}, {"type": "text", "text": "why ?"}]
    chat = {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": parts}]}
    run = a_run().answers(5, texts=TEXTS, issue={"prompt": chat}).answers(5, texts=TEXTS)
    for event in run.events:
        if event.data and "prompt_id" in event.data:
            event.data["prompt_id"] = 1
    assert run.ends().report(tokenizer=Words()).tokens.input == 8


def test_chunks_are_the_last_resort(a_run: NewRun) -> None:
    """Without usage and tokenizer each chunk is taken for one token, and input tokens are not known."""
    report = a_run().answers(5, 6, 7, texts=TEXTS).ends().report()
    assert report.tokens == Tokens(None, 3, "chunks")
    assert report.throughput.output_tps is not None
    assert report.throughput.total_tps is None


def test_sources_can_be_mixed(a_run: NewRun) -> None:
    """Where some counts come from the server and some do not, the report says so."""
    report = a_run().answers(5, 6, usage=(1, 7)).answers(5, 6).ends().report()
    assert report.tokens == Tokens(1, 9, "mixed")
    assert [finding.code for finding in report.findings] == [
        "tokens_per_chunk",
        "tokens_from_chunks",
        "mixed_token_sources",
        "tokens_unknown",
    ]


def test_a_whole_response_has_no_chunks_to_count(a_run: NewRun) -> None:
    """What was not streamed has no token count without usage or tokenizer, and none is invented."""
    report = a_run().answers(complete=9, stream=False, chunks=1).ends().report()
    assert report.tokens == Tokens(None, None, None)
    assert report.throughput.output_tps is None
    assert [finding.code for finding in report.findings] == ["tokens_unknown"]


@pytest.mark.slow
def test_each_report_counts_by_itself(a_run: NewRun) -> None:
    """A tokenizer that one report was given is not in the next one."""
    run = a_run().answers(5, 6, texts=TEXTS).ends()
    with MetricsReporter(run.write()) as reporter:
        sources = [reporter.create_report(tokenizer).tokens.source for tokenizer in (None, Words(), None)]
    assert sources == ["chunks", "client_tokenizer", "chunks"]


def test_a_tokenizer_that_fails_is_not_hidden(a_run: NewRun) -> None:
    """What a tokenizer raises reaches who passed it in."""

    class Broken:
        def encode(self, text: str) -> list[str]:
            if text:
                raise ZeroDivisionError
            return []

    with pytest.raises(ZeroDivisionError):
        a_run().answers(5, texts=TEXTS).ends().report(tokenizer=Broken())


def conversation(run: Run, *turns: tuple[int, str]) -> Run:
    """The turns of one conversation, by what the user says; the model says TEXTS each time."""
    for turn, text in turns:
        about = {"prompt_id": 3, "conversation": "c", "turn": turn}
        prompt = {"messages": [{"role": "user", "content": text}]}
        run.answers(5, texts={**TEXTS, "reasoning": "let me see"}, issue={"about": about, "prompt": prompt})
    return run


def test_a_turn_has_the_turns_before_it_in_its_prompt(a_run: NewRun) -> None:
    """With the answers to them, but without the reasoning, which is not sent back."""
    run = conversation(a_run(), (1, "b c"), (0, "a"), (2, "d")).ends()
    asked = [1, 1 + 3 + 2, 1 + 3 + 2 + 3 + 1]
    assert run.report(tokenizer=Words()).tokens == Tokens(sum(asked), 3 * 6, "client_tokenizer")


@pytest.mark.slow
def test_a_turn_after_one_that_is_not_known_has_no_count(a_run: NewRun) -> None:
    """Neither where a turn is missing, nor where the answers are those of the dataset."""
    run = conversation(a_run(), (0, "a"), (2, "d")).ends()
    assert run.report(tokenizer=Words()).tokens.input == 1
    run = conversation(a_run(), (0, "a"), (1, "b")).ends()
    run.settings["history"] = "recorded"
    assert run.report(tokenizer=Words()).tokens.input == 1


def test_a_prompt_of_token_ids_is_counted_already(a_run: NewRun) -> None:
    """It has no text, but a number of tokens."""
    run = a_run().answers(5, texts=TEXTS, issue={"prompt": {"token_ids": [5, 6, 7, 8]}}).ends()
    assert run.report(tokenizer=Words()).tokens == Tokens(4, 3, "client_tokenizer")
