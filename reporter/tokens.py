"""Token counts of our own, for responses and prompts that the server sent no `usage` for.

They are counted at report time, from the stored texts, never during a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized

    from duckdb import DuckDBPyConnection


class Tokenizer(Protocol):
    """What turns a text into tokens, e.g. a tokenizer of transformers."""

    def encode(self, text: str, /) -> Sized:
        """The tokens of a text."""
        ...


def count_tokens(connection: DuckDBPyConnection, tokenizer: Tokenizer | None) -> None:
    """Fill `client_tokens` of an opened log; the views prefer the server's counts where there are any.

    An output is counted with its reasoning and its tool calls. A prompt is counted as its text: for a chat
    that is less than the server sees, which adds the marks of its chat template.

    Args:
        connection: From `open_log`, with `outputs` and `prompts` loaded unless the tokenizer is None.
        tokenizer: What counts; None empties the table.
    """
    connection.execute("DELETE FROM client_tokens")
    if tokenizer is None:
        return
    for counts in _counted(connection.cursor(), _counter(tokenizer)):
        connection.register("counts", counts)
        connection.execute("INSERT INTO client_tokens SELECT * FROM counts")
        connection.unregister("counts")


def _counter(tokenizer: Tokenizer) -> Callable[[str], int]:
    """Count without the tokens that the tokenizer puts around any text, such as a beginning-of-text mark."""
    around = len(tokenizer.encode(""))
    return lambda text: len(tokenizer.encode(text)) - around


def _counted(texts: DuckDBPyConnection, tokens: Callable[[str], int]) -> Iterator[Any]:
    """Arrow tables of the columns of `client_tokens`."""
    import pyarrow as pa

    prompts = {prompt_id: tokens(prompt) for prompt_id, prompt in texts.execute(_PROMPTS).fetchall()}
    texts.execute(_UNCOUNTED)
    while rows := texts.fetchmany(_BATCH_ROWS):
        yield pa.table(
            {
                "sample_uuid": [sample_uuid for sample_uuid, _, _ in rows],
                "input": pa.array([prompts.get(prompt_id) for _, prompt_id, _ in rows], pa.int64()),
                "output": pa.array([sum(map(tokens, parts)) for _, _, parts in rows], pa.int64()),
            },
        )


_BATCH_ROWS: Final = 1024

_PROMPTS: Final = "SELECT prompt_id, prompt FROM prompts WHERE prompt IS NOT NULL"

_UNCOUNTED: Final = """
    SELECT
        sample_uuid,
        prompt_id,
        list_filter([output, reasoning, tool_calls::VARCHAR], lambda part: part IS NOT NULL)
    FROM requests JOIN outputs USING (sample_uuid)
    WHERE input_tokens IS NULL OR output_tokens IS NULL"""
