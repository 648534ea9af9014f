"""How each protocol asks what is more than a text: conversations, tools, images, tokens, lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions, completions, messages, responses
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.plain_json import PlainJson
from loadgen.driver.errors import CannotAskError
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec

GENERATION = Generation("m", max_tokens=5)
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "Oslo"}'}}
SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA}}
IMAGE = {"type": "image_url", "image_url": {"url": "https://host.invalid/a.png", "detail": "low"}}
CHAT: tuple[dict[str, Any], ...] = (
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "What is this?"}, IMAGE]},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL], "reasoning_content": "Hm."},
    {"role": "tool", "tool_call_id": "c1", "content": "A dog", "name": "look"},
    {"role": "user", "content": "And?"},
)
ASKED = Sample(0, "And?", chat=CHAT, tools=(TOOL,))
CODECS: list[Codec] = [chat_completions, completions, responses, messages, PlainJson()]
TEXTS = [codec for codec in CODECS if codec is not completions]


def name(codec: Any) -> str:
    """What a codec is called."""
    return getattr(codec, "__name__", type(codec).__name__).rpartition(".")[2]


def test_chat_says_it_as_it_is() -> None:
    """Messages and tools go as they are."""
    body = chat_completions.request(ASKED, GENERATION)
    assert (body["messages"], body["tools"]) == (list(CHAT), [TOOL])


def test_responses_have_items() -> None:
    """Each call and each result is an item; what was only thought is not sent back."""
    body = responses.request(ASKED, GENERATION)
    image = {"type": "input_image", "image_url": "https://host.invalid/a.png", "detail": "low"}
    assert body["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "What is this?"}, image]},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "Oslo"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "A dog"},
        {"role": "user", "content": "And?"},
    ]
    assert body["tools"] == [
        {"type": "function", "name": "look", "description": "Looks.", "parameters": SCHEMA}
    ]
    assert "instructions" not in body


def test_messages_take_turns() -> None:
    """The system prompt stands apart; results of tools are the user's, and successive messages one."""
    body = messages.request(ASKED, GENERATION)
    image = {"type": "image", "source": {"type": "url", "url": "https://host.invalid/a.png"}}
    called = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "Oslo"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "A dog"}
    assert body["system"] == "Be brief."
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, called]},
        {"role": "user", "content": [result, {"type": "text", "text": "And?"}]},
    ]
    assert body["tools"] == [{"name": "look", "description": "Looks.", "input_schema": SCHEMA}]


def test_images_in_the_message() -> None:
    """A data: URL goes as it stands, or as the protocol has it."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    sample = Sample(0, chat=({"role": "user", "content": [picture]},))
    (text,) = messages.request(sample, GENERATION)["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert text["content"] == [{"type": "image", "source": source}]
    (text,) = responses.request(sample, GENERATION)["input"]
    assert text["content"] == [{"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="}]


def test_what_a_model_has_called_wrongly() -> None:
    """Arguments that are not a JSON go where the protocol wants an object, too: an answer is what it is."""
    wrong = {"id": "c1", "function": {"name": "look", "arguments": '{"at": '}}
    chat = ({"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [wrong]})
    *_, text = messages.request(Sample(0, chat=chat), GENERATION)["messages"]
    called = {"type": "tool_use", "id": "c1", "name": "look", "input": {"arguments": '{"at": '}}
    assert text == {"role": "assistant", "content": [called]}


@pytest.mark.parametrize("codec", TEXTS, ids=name)
def test_the_next_turn(codec: Codec) -> None:
    """A later turn has everything before it; the log keeps what is new."""
    codec = PlainJson(body={"chat": "{messages}"}) if isinstance(codec, PlainJson) else codec
    asked = {"role": "user", "content": "And now?"}
    first = ConversationSample(0, "Hello", "Be brief.", follow_ups=(FollowUp((asked,)),), tools=(TOOL,))
    if isinstance(codec, PlainJson):
        codec = PlainJson(body={"chat": "{messages}", "tools": "{tools}"})
    later = first.after({"role": "assistant", "content": "Hi."})
    body = codec.request(later, GENERATION)
    text = body.get("messages") or body.get("input") or body["chat"]
    system = 0 if codec is messages else 1
    assert [message["content"] for message in text[system:]] == ["Hello", "Hi.", "And now?"]
    assert codec.asked(later) == {"messages": [asked]}


def test_the_log_keeps_tools_once() -> None:
    """They are sent with the first turn of a conversation."""
    assert chat_completions.asked(ASKED) == {"messages": list(CHAT), "tools": [TOOL]}


def test_tokens() -> None:
    """Completions take tokens, and the log keeps them."""
    sample = Sample(0, token_ids=(1, 2, 3))
    assert completions.request(sample, GENERATION)["prompt"] == [1, 2, 3]
    assert completions.asked(sample) == {"token_ids": [1, 2, 3]}


@pytest.mark.parametrize("codec", TEXTS, ids=name)
def test_tokens_elsewhere(codec: Codec) -> None:
    """No other protocol takes them, and the error says which does."""
    with pytest.raises(CannotAskError, match="--protocol completions"):
        codec.request(Sample(0, token_ids=(1, 2, 3)), GENERATION)


@pytest.mark.parametrize("codec", CODECS, ids=name)
def test_the_length_of_a_sample_wins(codec: Codec) -> None:
    """What a dataset says of one question wins over what was said of all."""
    member = "max_output_tokens" if codec is responses else "max_tokens"
    assert codec.request(Sample(0, "a", max_tokens=7), GENERATION)[member] == 7
    assert codec.request(Sample(0, "a"), GENERATION)[member] == 5


@pytest.mark.parametrize("codec", [chat_completions, completions], ids=name)
def test_answers_of_an_exact_length(codec: Codec) -> None:
    """They go on until the bound, where there is one."""
    endless = Generation("m", ignore_eos=True)
    body = codec.request(Sample(0, "a", max_tokens=7), endless)
    assert (body["max_tokens"], body["ignore_eos"], body["min_tokens"]) == (7, True, 7)
    assert codec.request(Sample(0, "a"), endless).keys().isdisjoint({"ignore_eos", "min_tokens"})


def test_bodies_with_places_for_conversations() -> None:
    """`{messages}` takes prompts as well as conversations; what has no place is an error."""
    codec = PlainJson(body={"chat": "{messages}", "tools": "{tools}", "prompt": "{prompt}"})
    plain = codec.request(Sample(0, "a", "s"), GENERATION)
    text = [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]
    assert plain == {"chat": text, "prompt": "a"}
    assert codec.request(ASKED, GENERATION) == {"chat": list(CHAT), "tools": [TOOL], "prompt": "And?"}


USER = {"role": "user", "content": "a"}
CANNOT: list[tuple[Codec, Sample, str]] = [
    (completions, Sample(0, chat=(USER,)), "goes with --protocol chat"),
    (completions, Sample(0, "a", tools=(TOOL,)), "goes with --protocol chat"),
    (PlainJson(), Sample(0, chat=(USER,)), "has no {messages}"),
    (PlainJson(), Sample(0, "a", tools=(TOOL,)), "has no {tools}"),
    (responses, Sample(0, chat=({**USER, "name": "Ann"},)), "has `name`"),
    (messages, Sample(0, chat=({**USER, "name": "Ann"},)), "has `name`"),
    (messages, Sample(0, chat=(USER, {"role": "system", "content": "s"})), "in the middle"),
    (
        messages,
        Sample(0, chat=({"role": "system", "content": [IMAGE]}, USER)),
        "a part of the type image_url",
    ),
    (
        messages,
        Sample(0, chat=({"role": "user", "content": [{"type": "video_url"}]},)),
        "the type video_url",
    ),
    (
        responses,
        Sample(0, chat=({"role": "user", "content": [{"type": "video_url"}]},)),
        "the type video_url",
    ),
    (responses, Sample(0, chat=(USER, {"role": "assistant", "content": [IMAGE]})), "the type image_url"),
    (
        messages,
        Sample(0, chat=({"role": "user", "content": [{**IMAGE, "image_url": {"url": "file:///a.png"}}]},)),
        "http: or https:",
    ),
    (messages, Sample(0, "a", tools=({"type": "web_search"},)), "a tool that is not"),
    (responses, Sample(0, "a", tools=({"type": "web_search"},)), "a tool that is not"),
]


@pytest.mark.parametrize(("codec", "sample", "message"), CANNOT)
def test_what_cannot_be_asked(codec: Codec, sample: Sample, message: str) -> None:
    """Nothing of a question is lost in silence."""
    with pytest.raises(CannotAskError) as caught:
        codec.request(sample, GENERATION)
    assert message in str(caught.value)


@pytest.mark.parametrize("codec", CODECS, ids=name)
def test_a_questions_own_temperature_wins(codec: Codec) -> None:
    """Over the session's, as its own limit of tokens does; 0 is one too."""
    generation = Generation("m", temperature=0.7)
    own, other = (codec.request(Sample(0, "?", temperature=item), generation) for item in (0.0, None))
    assert (_temperature(own), _temperature(other)) == (0.0, 0.7)


def _temperature(body: dict[str, Any]) -> Any:
    return body["temperature"]


def test_the_seed_of_the_servers_sampling() -> None:
    """Sent where it is given and the protocol has a member for it; 0 is one."""
    seeded, plain = Generation("m", seed=0), Generation("m")
    for codec in (chat_completions, completions):
        assert codec.request(Sample(0, "?"), seeded)["seed"] == 0
        assert "seed" not in codec.request(Sample(0, "?"), plain)
    own = PlainJson(body={"q": "{prompt}", "parameters": {"seed": "{seed}"}})
    assert own.request(Sample(0, "?"), seeded)["parameters"] == {"seed": 0}
    assert own.request(Sample(0, "?"), plain)["parameters"] == {}
