"""The kind of a run's probes: `2:input=64,output=16`."""

from __future__ import annotations

from typing import Final

from lazy_dataclasses import dataclass
from loadgen.sessions.settings.option import OptionValueError

MOST_RATE: Final = 1000
_FORM: Final = "write PROBES_PER_SECOND:input=TOKENS,output=TOKENS,model=NAME, as in 2:input=64,output=16"


@dataclass(frozen=True, slots=True)
class ProbeKind:
    """The kind of a run's probes.

    Attributes:
        rate: Probes per second, at equal distances.
        input_tokens: Tokens of each prompt; the texts differ.
        output_tokens: The limit of each answer.
        model: The model or adapter; empty for that of the run.
    """

    rate: float
    input_tokens: int
    output_tokens: int
    model: str

    @classmethod
    def read(cls, text: str) -> ProbeKind:
        """Read the option.

        Raises:
            OptionValueError: The text is of another form, or out of range.
        """
        rate, _, listed = text.partition(":")
        members = dict(part.partition("=")[::2] for part in listed.split(",") if part)
        try:
            kind = cls(
                float(rate),
                int(members.pop("input", 64)),
                int(members.pop("output", 16)),
                members.pop("model", ""),
            )
        except ValueError as error:
            raise OptionValueError(f"{text!r}: {_FORM}") from error
        if members or not 0 < kind.rate <= MOST_RATE or min(kind.input_tokens, kind.output_tokens) < 1:
            raise OptionValueError(f"{text!r}: {_FORM}")
        return kind
