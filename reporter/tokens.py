"""Token counts of our own, for responses and prompts that the server sent no `usage` for.

They are counted at report time, from the stored texts, never during a run.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    that is less than the server sees, which adds the marks of its chat template. A turn of a conversation has
    those before it in its prompt, with their answers, but without reasoning; where the dataset answers, whose
    words the log does not keep, the input of later turns stays unknown.

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


@dataclass(slots=True)
class Conversation:
    """How many tokens the turns of a conversation have come to, turn after turn.

    Attributes:
        name: Which conversation.
        turn: The turn that comes next.
        tokens: What its context has so far; None where a turn before was not counted.
    """

    name: str | None = None
    turn: int = 0
    tokens: int | None = 0

    def before(self, name: str | None, turn: int) -> int | None:
        """What the context of a turn has before its own messages."""
        if turn == 0:
            return 0
        return self.tokens if (name, turn) == (self.name, self.turn) else None

    def goes_on(self, name: str | None, turn: int, asked: int | None, answer: int) -> None:
        """A turn is over."""
        before = self.before(name, turn)
        self.tokens = None if before is None or asked is None else before + asked + answer
        self.name, self.turn = name, turn + 1


def _counter(tokenizer: Tokenizer) -> Callable[[str], int]:
    """Count without the tokens that the tokenizer puts around any text, such as a beginning-of-text mark."""
    around = len(tokenizer.encode(""))
    return lambda text: len(tokenizer.encode(text)) - around


def _counted(texts: DuckDBPyConnection, tokens: Callable[[str], int]) -> Iterator[Any]:
    """Arrow tables of the columns of `client_tokens`."""
    import pyarrow as pa

    prompts = {
        (prompt_id, turn): tokens(prompt) if ids is None else ids
        for prompt_id, turn, prompt, ids in texts.execute(_PROMPTS).fetchall()
    }
    (answers_known,) = texts.execute(_ANSWERS_KNOWN).fetchall()[0]
    conversation = Conversation()
    texts.execute(_UNCOUNTED)
    while rows := texts.fetchmany(_BATCH_ROWS):
        inputs, outputs = [], []
        for _, conversation_id, prompt_id, turn, said, unsaid in rows:
            answer = sum(map(tokens, said))
            before = conversation.before(conversation_id, turn) if answers_known or not turn else None
            asked = prompts.get((prompt_id, turn))
            inputs.append(None if asked is None or before is None else before + asked)
            outputs.append(answer + sum(map(tokens, unsaid)))
            conversation.goes_on(conversation_id, turn, asked, answer)
        yield pa.table(
            {
                "sample_uuid": [row[0] for row in rows],
                "input": pa.array(inputs, pa.int64()),
                "output": pa.array(outputs, pa.int64()),
            },
        )


_BATCH_ROWS: Final = 1024

_PROMPTS: Final = (
    "SELECT prompt_id, turn, prompt, json_array_length(token_ids) AS ids FROM prompts "
    "WHERE prompt IS NOT NULL OR ids IS NOT NULL"
)

_ANSWERS_KNOWN: Final = "SELECT settings ->> '$.history' IS DISTINCT FROM 'recorded' FROM session"

_UNCOUNTED: Final = """
    SELECT
        sample_uuid,
        conversation_id,
        prompt_id,
        coalesce(turn, 0),
        list_filter([output, tool_calls::VARCHAR], lambda part: part IS NOT NULL),
        list_filter([reasoning], lambda part: part IS NOT NULL)
    FROM requests JOIN outputs USING (sample_uuid)
    WHERE input_tokens IS NULL OR output_tokens IS NULL OR conversation_id IS NOT NULL
    ORDER BY conversation_id, turn"""
