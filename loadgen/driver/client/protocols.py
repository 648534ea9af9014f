"""The table of protocols by name.

A protocol is one file with the members of `loadgen.driver.client.codec.Codec`, and one row here
(docs/adding-a-protocol.md). Other packages add protocols by entry points (`workloads.registry`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field
from loadgen.driver.errors import UnknownProtocolError
from workloads.errors import PluginError, did_you_mean
from workloads.registry import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.driver.client.codec import Codec
    from workloads.registry import Entry

_CLIENT: Final = "loadgen.driver.client"
_DIALECTS: Final = "loadgen.mock_endpoint.scenarios.dialects"


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """A row of the table."""

    codec: str  #: the module of its codec; `module:CLASS` if its options make the codec
    title: str
    #: Whether a response is a stream only if `--stream` asks for one, always, or never.
    stream: Literal["optional", "always", "never"] = "optional"
    rooted: bool = False
    seed: bool = False
    ignore_eos: bool = False
    described: bool = False
    inputs: Literal["", "batch", "query"] = ""  #: what a request has in place of a prompt: docs/embeddings.md
    dataset: str = ""  #: the service of a plug-in that makes the questions; empty for none
    scheme: str = "http"  #: of URLs without TLS; with an `s` of those with TLS
    checks: str = ""  #: the service of a plug-in with checks before the first question; empty for none
    preset_of: str = ""  #: the described protocol that it is, with these `options`; empty for others
    options: Mapping[str, Any] = field(default_factory=dict)
    #: The module that writes its frames for the conformance scenarios; empty if there is none.
    dialect: str = ""


_SGLANG: Final[Mapping[str, Any]] = {
    "path": "/generate",
    "body": {
        "text": "{prompt}",
        "sampling_params": {"max_new_tokens": "{max_tokens}", "temperature": "{temperature}"},
        "stream": True,
    },
    "text_at": "text",
    "tokens_at": "meta_info.completion_tokens",
    "finish_at": "meta_info.finish_reason",
    "cumulative": True,
    "ids_at": "output_ids",
}

PROTOCOLS: Final[Mapping[str, ProtocolEntry]] = {
    "chat": ProtocolEntry(
        f"{_CLIENT}.chat_completions",
        "OpenAI chat completions",
        seed=True,
        ignore_eos=True,
        dialect=f"{_DIALECTS}.chat",
    ),
    "completions": ProtocolEntry(
        f"{_CLIENT}.completions",
        "OpenAI completions",
        seed=True,
        ignore_eos=True,
        dialect=f"{_DIALECTS}.completions",
    ),
    "responses": ProtocolEntry(f"{_CLIENT}.responses", "OpenAI Responses", dialect=f"{_DIALECTS}.responses"),
    "messages": ProtocolEntry(f"{_CLIENT}.messages", "Anthropic Messages", dialect=f"{_DIALECTS}.messages"),
    "sglang": ProtocolEntry(
        f"{_CLIENT}.plain_json:PlainSSE",
        "SGLang's own stream, whose events repeat the text so far",
        stream="always",
        rooted=True,
        preset_of="sse",
        options=_SGLANG,
    ),
    "sse": ProtocolEntry(
        f"{_CLIENT}.plain_json:PlainSSE",
        "any stream of JSON: server-sent events or lines",
        stream="always",
        rooted=True,
        described=True,
        dialect=f"{_DIALECTS}.plain_sse",
    ),
    "json": ProtocolEntry(
        f"{_CLIENT}.plain_json:PlainJson",
        "any answer that is one JSON text",
        stream="never",
        rooted=True,
        described=True,
        dialect=f"{_DIALECTS}.plain_json",
    ),
}
"""The protocols of this package, in the order in which they are shown."""

_MEMBERS: Final = (
    *("path", "models", "announces_end", "cumulative"),
    *("headers", "request", "asked", "chunk", "whole"),
)
"""The members of a `Codec`."""

_FACTS: Final = (
    *("title", "stream", "rooted", "seed", "ignore_eos", "inputs", "dataset", "scheme", "checks"),
)
"""The fields of `ProtocolEntry` that a plug-in's codec may have as further members."""


def protocol_names() -> list[str]:
    """The names of all protocols: those of this package, then those of plug-ins."""
    return [*PROTOCOLS, *_of_plugins()]


def protocol_entry(name: str) -> ProtocolEntry:
    """The row of a protocol; of a plug-in's protocol, one with the facts of the codec.

    Raises:
        UnknownProtocolError: No protocol has this name.
        PluginError: A plug-in's protocol cannot be used.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    plugin, codec = _of_plugin(name)
    facts = {fact: getattr(codec, fact) for fact in _FACTS if hasattr(codec, fact)}
    return ProtocolEntry(**{"codec": plugin.target, "title": f"a plug-in of {plugin.origin}", **facts})


def names_where(is_wanted: Callable[[ProtocolEntry], bool]) -> str:
    """The names of the protocols with a property, for a message: `chat, completions and sse`."""
    names = [name for name in protocol_names() if _has(name, is_wanted)]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _has(name: str, is_wanted: Callable[[ProtocolEntry], bool]) -> bool:
    try:
        return is_wanted(protocol_entry(name))
    except PluginError:
        return False


def codec_of(name: str, options: Mapping[str, Any]) -> Codec:
    """The codec of a protocol, with `options` of one that users describe; raise as `protocol_entry`."""
    if name not in PROTOCOLS:
        codec: Any = _of_plugin(name)[1]
    else:
        codec, options = at(PROTOCOLS[name].codec), {**PROTOCOLS[name].options, **options}
    made: Codec = codec(**options) if isinstance(codec, type) else codec
    return made


def _of_plugins() -> Mapping[str, Entry]:
    from workloads.registry import entries

    return {name: entry for name, entry in entries("protocols").items() if name not in PROTOCOLS}


def _of_plugin(name: str) -> tuple[Entry, Codec]:
    from workloads.registry import load, unusable

    entry = _of_plugins().get(name)
    if entry is None:
        names = protocol_names()
        raise UnknownProtocolError(
            f"{name!r} is not a protocol{did_you_mean(name, names)}; choose from {', '.join(names)}"
        )
    codec: Codec = load(entry)
    if missing := [member for member in _MEMBERS if not hasattr(codec, member)]:
        raise unusable(entry, f"missing {missing[0]!r}")
    return entry, codec
