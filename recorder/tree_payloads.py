"""The payload keys of session trees, vectors and media: a part of the table in `recorder.payloads`."""

from collections.abc import Mapping
from typing import Annotated, Literal, Required, TypedDict

from recorder.event import JSON, TEXT, Integer, KeyColumn, Moment, Real, Text

Phase = Literal["warmup", "performance", "drain", "judge", "user_sim", "probe"]
"""The phases. Figures are about requests that are issued in `performance`."""


class TreeTurn(TypedDict, total=False):
    """`tree` of LOADGEN_ISSUE_CALLED: the place of a turn in a session tree, and what was recorded of it."""

    session: Text  #: recorded id of the session
    stream: Integer  #: its agent, from 0, the main agent
    parent: Integer | None  #: the agent that spawned its agent
    depth: Integer  #: spawns between the main agent and its agent
    agent: Text | None  #: recorded kind of a subagent
    after: Annotated[list[int], KeyColumn("BIGINT[]", "INTEGERS")]  #: the turns that it waited for
    delay_ms: Real  #: its wait after the last end of these turns
    tool_ms: Real | None  #: the part of the wait that tools took
    start_ms: Real | None  #: recorded begin, from the start of the session
    end_ms: Real | None  #: recorded end, from the start of the session
    extends: Integer | None  #: the turn whose prompt its prompt begins like
    prefix_tokens: Integer | None  #: tokens of the prompt that earlier prompts of the session had
    block_tokens: Integer | None  #: tokens of the whole blocks of the prompt
    input_tokens: Integer | None  #: recorded tokens of the prompt
    output_tokens: Integer | None  #: recorded tokens of the answer
    moved_ms: Real | None  #: how much earlier the caps on idle time made it due


class TreeEnded(TypedDict, total=False):
    """TREE_ENDED."""

    conversation: Required[Text]  #: the session
    session: Required[Text]  #: its recorded id
    prompt_id: Required[Integer]  #: its prompt
    phase: Required[Annotated[Phase, TEXT]]  #: its phase
    scheduled_ns: Required[Moment]  #: when the session was due
    begun_ns: Required[Moment]  #: when it had a place
    turns: Required[Integer]  #: its number of turns
    ending: Required[Text]  #: `completed`, or the first reason for a turn without an answer
    never_asked: Annotated[Mapping[str, int], JSON] | None  #: turns that were never asked, by reason
    begun_at_ms: Real | None  #: the moment of the recorded session that it began at; none for its start


class Results(TypedDict, total=False):
    """`results` of COMPLETE: what a response has in place of text."""

    count: Required[Integer]  #: vectors or scores, one for each input
    dimensions: Integer | None  #: of the vectors
    padding: Real | None  #: the share of padding if all inputs were as long as the longest, by characters
    parse_ms: Real  #: how long the client took to decode and check the response


class Media(TypedDict, total=False):
    """The upload of a large request, speech and images: a part of `Complete`, `Failed` and `Cancelled`."""

    request_bytes: Integer | None  #: bytes of the request, [from 64 KiB on](media.md#ttft-without-the-upload)
    upload_begun_ns: Moment | None  #: when the first part of such a request was handed to the kernel
    uploaded_ns: Moment | None  #: when the server had acknowledged its last byte
    uploaded_low_ns: Moment | None  #: when its last byte left the client
    uploaded_high_ns: Moment | None  #: when the acknowledgment came, which servers may delay
    audio_in_s: Real | None  #: the length of the recording that was [transcribed](speech.md)
    audio_out_s: Real | None  #: the length of the audio of the response
    first_audio_ns: Moment | None  #: arrival of the first audio
    playout_gap_ms: Real | None  #: how long a player of the audio waits for more
    images_out: Integer | None  #: the images of the response
    media_tokens: Integer | None  #: tokens of images, audio and video in the prompt
