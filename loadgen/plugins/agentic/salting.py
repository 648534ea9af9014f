"""The texts that make the prompts of a session unique, and their places in a prompt."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loadgen.driver.requests.cache_buster import new_salt, salted

if TYPE_CHECKING:
    from loadgen.sessions.settings.load_options import SaltPlace
    from workloads.sample import Message, Sample

_DIGITS: Final = 12


class Salting(NamedTuple):
    """The salt of a session.

    Attributes:
        text: What the log keeps: the text, or with `system` the texts of the pass and of the session.
        place: Where the text goes in every prompt of the session.
    """

    text: str
    place: SaltPlace

    def __call__(self, sample: Sample) -> Sample:
        """A request with the salt."""
        if self.place == "prompt":
            return salted(sample, self.text)
        if self.place == "user":
            return _before_user(sample, f"[{self.text}]\n\n")
        return _around_system(sample, *self.text.split())


def salting_of(place: SaltPlace, run: str, number: int, rows: int) -> Salting:
    """The salt of a session, equal in the warm-up and in the measurement.

    Before the first user message it is AgentX's cache bust: 12 hexadecimal digits in brackets. Around the
    system prompt it is that of MLPerf's agentic inference: two bytes of BLAKE2b each.

    Args:
        place: Where the text goes.
        run: What distinguishes the run from others.
        number: The number of the session in the run.
        rows: How many sessions a pass has.
    """
    match place:
        case "prompt":
            return Salting(new_salt(), place)
        case "user":
            return Salting(sha256(f"{run}:{number}".encode()).hexdigest()[:_DIGITS], place)
        case "system":
            of_pass = _two_bytes(f"{run}:pass:{number // rows}")
            return Salting(f"{of_pass} {_two_bytes(f'{run}:{number}')}", place)


def _two_bytes(text: str) -> str:
    return blake2b(text.encode(), digest_size=2).hexdigest()


def _before_user(sample: Sample, text: str) -> Sample:
    chat = list(sample.chat or ())
    place = next((place for place, message in enumerate(chat) if message["role"] == "user"), 0)
    chat[place] = _joined(text, chat[place], "")
    return replace(sample, chat=tuple(chat))


def _around_system(sample: Sample, of_pass: str, of_session: str) -> Sample:
    first, *others = sample.chat or ()
    before, after = f"[salt: {of_pass}] ", f"[salt: {of_session}]"
    if first["role"] == "system":
        return replace(sample, chat=(_joined(before, first, f" {after}"), *others))
    return replace(sample, chat=(_joined(f"{before}{after} ", first, ""), *others))


def _joined(before: str, message: Message, after: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list | tuple):
        ends = [{"type": "text", "text": text} for text in (before, after)]
        return {**message, "content": [ends[0], *content, *(ends[1:] if after else ())]}
    return {**message, "content": f"{before}{content or ''}{after}"}
