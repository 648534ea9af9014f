"""Token counts of our own, for responses and prompts that the server sent no `usage` for.

They are counted at report time, from the stored texts, never during a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import uuid4

from lazy_dataclasses import dataclass
from reporter.json_values import document, members, text
from reporter.log.database import COUNTS
from rulesets.definitions import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence, Sized

    from reporter.log.database import OpenLog
    from rulesets.definitions import Definitions


class Tokenizer(Protocol):
    """What turns a text into tokens, e.g. a tokenizer of transformers."""

    def encode(self, text: str, /) -> Sized:
        """The tokens of a text."""
        ...


def texts_needed(definitions: Definitions, tokenizer: Tokenizer | None) -> tuple[str, ...]:
    """The big tables that counting needs."""
    if tokenizer is not None:
        return ("outputs", "prompts")
    return () if _all_counted(definitions) else ("outputs",)


def with_counted_tokens(log: OpenLog, tokenizer: Tokenizer | None, *, recount: bool = False) -> OpenLog:
    """The same log with a tokenizer's counts; the views prefer the server's where there are any.

    An output is counted with its reasoning and its tool calls, each for itself. A prompt is counted as its
    text: for a chat that is less than the server sees, which adds the marks of its chat template. A turn of a
    conversation has those before it in its prompt, with their answers, but without reasoning; where the
    dataset answers, whose words the log does not keep, the input of later turns stays unknown.

    Args:
        log: By the definitions that say what is counted, and by whom; without counts.
        tokenizer: What counts. Without one the table only has how much of the server's counts is of the
            categories that count, where these are not all.
        recount: Count also what the server has counted, to compare the two.

    Raises:
        LogError: The log is damaged.
        NoRoomError: Memory and temporary disk space are too small for the texts.
    """
    definitions = log.definitions
    log.load(texts_needed(definitions, tokenizer))
    if tokenizer is None and _all_counted(definitions):
        return log
    table = f"client_tokens_{uuid4().hex}"
    log.execute(f"CREATE TABLE {table} ({COUNTS})")
    if tokenizer is None:
        log.execute(_OF_SERVER.format(table=table, usage=_counted_usage(definitions)))
        return log.with_token_counts(table)
    which = "true" if recount else _which(definitions)
    for counts in _counted(log, _counter(tokenizer), definitions, which):
        log.connection.register("counts", counts)
        log.execute(f"INSERT INTO {table} BY NAME FROM counts")
        log.connection.unregister("counts")
    return log.with_token_counts(table)


def _all_counted(definitions: Definitions) -> bool:
    return set(definitions.token_categories) == set(CATEGORIES)


@dataclass(slots=True)
class ConversationTokens:
    """The running number of tokens of a conversation, turn after turn.

    Attributes:
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


def _counted(
    log: OpenLog, tokens: Callable[[str], int], definitions: Definitions, which: str
) -> Iterator[Any]:
    """Arrow tables of the columns of a table of counts."""
    import pyarrow as pa

    texts = log.connection.cursor()
    prompts = {
        (prompt_id, turn): tokens(prompt) if ids is None else ids
        for prompt_id, turn, prompt, ids in texts.execute(_PROMPTS).fetchall()
    }
    (history_is_logged,) = texts.execute(_HISTORY_IS_LOGGED).fetchall()[0]
    conversation = ConversationTokens()
    texts.execute(_ANSWERS.format(usage=_counted_usage(definitions), which=which))
    while rows := texts.fetchmany(_BATCH_ROWS):
        counted = []
        for uuid, conversation_id, prompt_id, turn, usage, first_chunk, *parts in rows:
            lengths = [tokens(part) if part else 0 for part in parts]
            by_category = dict(zip(CATEGORIES, lengths, strict=True))
            before = conversation.before(conversation_id, turn) if history_is_logged or not turn else None
            asked = prompts.get((prompt_id, turn))
            input_tokens = None if asked is None or before is None else before + asked
            output = sum(by_category[category] for category in definitions.token_categories)
            after = _after_first(parts, first_chunk, definitions)
            after_first = None if after is None else sum(map(tokens, after))
            counted.append((uuid, input_tokens, output, after_first, usage))
            answer = by_category["content"] + by_category["tool_call"]
            conversation.goes_on(conversation_id, turn, asked, answer)
        kinds = (pa.string(), *[pa.int64()] * (len(_COLUMNS) - 1))
        columns = map(pa.array, map(list, zip(*counted, strict=True)), kinds)
        yield pa.table(dict(zip(_COLUMNS, columns, strict=True)))


def _counted_usage(definitions: Definitions) -> str:
    """SQL for how much of the server's count is of categories that count; NULL where that is unknown."""
    if _all_counted(definitions):
        return "NULL"
    if set(definitions.token_categories) == {"content", "tool_call"}:
        return "server_rest"
    return " + ".join(f"server_{category}" for category in definitions.token_categories)


def _which(definitions: Definitions) -> str:
    """SQL for the answers that have to be counted."""
    every = (
        definitions.token_source == "client_tokenizer"  # noqa: S105 (not a password)
        or definitions.tpot_denominator == "tokens_after_first_chunk"
        or not _all_counted(definitions)
    )
    return "true" if every else "input_tokens IS NULL OR output_tokens IS NULL OR conversation_id IS NOT NULL"


def _after_first(
    parts: Sequence[str | None], first_chunk: Mapping[str, int | None] | None, definitions: Definitions
) -> list[str] | None:
    """What of the text that counts came after the first chunk of it; None where that is not known.

    Of tool calls the arguments are looked at, for names come whole.
    """
    if definitions.tpot_denominator != "tokens_after_first_chunk" or first_chunk is None:
        return None
    first = {category: length for category, length in first_chunk.items() if length is not None}
    if not first.keys() & set(definitions.token_categories):
        return None
    texts = dict(zip(CATEGORIES, (part or "" for part in parts), strict=True))
    if "tool_call" in first:
        texts["tool_call"] = _arguments(texts["tool_call"])
    rests = (texts[category][first.get(category, 0) :] for category in definitions.token_categories)
    return [rest for rest in rests if rest]


def _arguments(tool_calls: str) -> str:
    """The arguments of tool calls, one after the other."""
    functions = [members(members(call).get("function")) for call in document(tool_calls) or ()]
    return "".join(text(function.get("arguments")) or "" for function in functions)


_BATCH_ROWS: Final = 1024

_COLUMNS: Final = ("sample_uuid", "input", "output", "after_first", "server")

# Of a message with parts the texts: media have no tokens that a tokenizer of texts counts.
_PROMPTS: Final = """
    SELECT
        prompt_id,
        turn,
        CASE
            WHEN contains(messages::VARCHAR, '"content":[') THEN array_to_string(
                [
                    CASE
                        WHEN json_type(each) = 'ARRAY'
                        THEN array_to_string(json_extract_string(each, '$[*].text'), '')
                        ELSE json_extract_string(each, '$')
                    END
                    FOR each IN json_extract(messages, '$[*].content')
                ],
                chr(10)
            )
            ELSE prompt
        END AS text,
        json_array_length(token_ids) AS ids
    FROM prompts
    WHERE prompt <> '' OR ids IS NOT NULL"""

_HISTORY_IS_LOGGED: Final = """
    SELECT settings ->> '$.history' IS DISTINCT FROM 'recorded' AND settings ->> '$.session_trees' IS NULL
    FROM session"""

# A server counts the reasoning of an answer, if any part; the rest follows from what the answer lacks.
_WITH_PARTS: Final = """
    SELECT
        *,
        coalesce(reasoning, '') <> '' AS has_reasoning,
        coalesce(output, '') <> '' AS has_content,
        coalesce(json_array_length(tool_calls), 0) > 0 AS has_tool_call,
        -- Some gateways count 0 whatever the answer is.
        CASE WHEN output_tokens > 0 OR coalesce(chunks, 0) = 0 THEN output_tokens END AS server_total,
        coalesce(
            reasoning_tokens,
            CASE WHEN NOT has_reasoning THEN 0 WHEN NOT (has_content OR has_tool_call) THEN server_total END
        ) AS server_reasoning,
        server_total - server_reasoning AS server_rest,
        CASE WHEN NOT has_content THEN 0 WHEN NOT has_tool_call THEN server_rest END AS server_content,
        CASE WHEN NOT has_tool_call THEN 0 WHEN NOT has_content THEN server_rest END AS server_tool_call
    FROM requests JOIN outputs USING (sample_uuid)"""

_OF_SERVER: Final = (
    "INSERT INTO {table} BY NAME SELECT sample_uuid, {usage} AS server FROM (" + _WITH_PARTS + ")"  # noqa: S608 (what a definition may be is known)
)

_ANSWERS: Final = (
    """
    SELECT
        sample_uuid,
        conversation_id,
        prompt_id,
        coalesce(turn, 0),
        {usage},
        from_json(first_chunk, '{{"reasoning": "BIGINT", "content": "BIGINT", "tool_call": "BIGINT"}}'),
        reasoning,
        output,
        tool_calls::VARCHAR
    FROM ("""
    + _WITH_PARTS
    + """)
    WHERE {which}
    ORDER BY conversation_id, turn"""
)
