"""Finish reasons: what those of each server say of an answer, and the table of them in the docs."""

from __future__ import annotations

from pathlib import Path

from recorder.finish_reasons import AnswerEnding, ending_of, is_finish_reason
from tests import golden
from tests.for_each import for_each

PAGE = Path(__file__).parents[2] / "docs" / "protocols.md"
BEGIN, END = "<!-- finish_reasons -->\n", "<!-- /finish_reasons -->"
COUNTS = {
    AnswerEnding.COMPLETE: "a success",
    AnswerEnding.LIMITED: "a success",
    AnswerEnding.FILTERED: "a success, with the finding `answers_filtered`",
    AnswerEnding.ABORTED: "the failure `aborted`",
    AnswerEnding.UNKNOWN: "a success, with the finding `finish_reasons_unknown`",
}

SERVERS = {
    "vLLM": "complete: stop tool_calls function_call; limited: length repetition; aborted: abort error",
    "SGLang": "complete: stop tool_calls; limited: length; aborted: abort FINISH_ABORT",
    "TensorRT-LLM": "complete: stop END_ID STOP_WORDS; limited: length; aborted: timeout cancelled TIMED_OUT",
    "Text Generation Inference": "complete: eos_token stop_sequence; limited: length",
    "llama.cpp": "complete: stop eos word tool_calls; limited: length limit",
    "Ollama": "complete: stop; limited: length; aborted: load unload",
    "Dynamo": "complete: stop eos; limited: length; aborted: error cancelled",
    "OpenAI": "complete: stop tool_calls function_call completed; limited: length max_output_tokens; "
    "filtered: content_filter; aborted: failed cancelled incomplete in_progress queued",
    "Anthropic": "complete: end_turn stop_sequence tool_use pause_turn; filtered: refusal; "
    "limited: max_tokens model_context_window_exceeded",
    "Bedrock": "complete: end_turn tool_use; filtered: guardrail_intervened content_filtered; "
    "aborted: malformed_model_output malformed_tool_use",
    "Gemini": "complete: STOP; limited: MAX_TOKENS; filtered: SAFETY RECITATION LANGUAGE BLOCKLIST "
    "PROHIBITED_CONTENT SPII IMAGE_SAFETY; unknown: OTHER; aborted: MALFORMED_FUNCTION_CALL "
    "UNEXPECTED_TOOL_CALL function_call_filter:MALFORMED_FUNCTION_CALL; filtered: content_filter:SAFETY",
    "xAI": "complete: stop REASON_STOP; limited: REASON_MAX_LEN; aborted: REASON_TIME_LIMIT",
    "DeepSeek": "complete: stop; aborted: insufficient_system_resource; filtered: content_filter",
    "Mistral": "complete: stop; limited: length model_length; aborted: error",
    "Cohere": "complete: COMPLETE STOP_SEQUENCE TOOL_CALL; limited: MAX_TOKENS; filtered: ERROR_TOXIC; "
    "aborted: ERROR USER_CANCEL TIMEOUT",
    "Z.ai": "complete: stop; filtered: sensitive; aborted: network_error",
    "enums": "complete: FinishReason.STOP finish_reason.stop; limited: LENGTH maxTokens max-tokens",
    "others": "unknown: foo 7; aborted: internal_server_error backend-unavailable requestTimeout",
}
"""Endings of each server's reasons, with a colon after each ending."""


@for_each("server", SERVERS)
def test_the_reasons_of_a_server(server: str) -> None:
    """Each says what its documentation says of it."""
    for part in SERVERS[server].split("; "):
        ending, _, reasons = part.partition(": ")
        assert {reason: ending_of(reason).value for reason in reasons.split()} == dict.fromkeys(
            reasons.split(), ending
        )


@for_each("reason", ["", " ", "null", "None", "NOT_FINISHED", "FINISH_REASON_UNSPECIFIED"])
def test_a_reason_before_the_end(reason: str) -> None:
    """Some servers send one in each frame."""
    assert not is_finish_reason(reason)
    assert is_finish_reason("stop")


def test_a_reason_has_one_meaning() -> None:
    """No reason is in two rows."""
    reasons = [reason for ending in AnswerEnding for reason in ending.reasons]
    assert len(reasons) == len(set(reasons))
    assert all(ending_of(reason) is ending for ending in AnswerEnding for reason in ending.reasons)


def test_the_table_in_the_docs_is_that_of_the_code() -> None:
    """`make golden` writes it again."""
    listed = {ending: ", ".join(f"`{reason}`" for reason in ending.reasons) for ending in AnswerEnding}
    rows = [
        f"| *{ending}*: {ending.meaning} | {reasons} | {COUNTS[ending]} |"
        for ending, reasons in listed.items()
    ]
    head = "| meaning | finish reasons | counts as |\n|---|---|---|"
    golden.check_part(PAGE, BEGIN, END, "\n".join([head, *rows]) + "\n")
