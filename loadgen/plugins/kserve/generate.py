"""Triton's generate extension: `POST /v2/models/NAME/generate_stream`, a stream of texts.

Triton makes a parameter of each member that names none of the model's inputs, so that the backends of vLLM
and TensorRT-LLM both read the body (Triton's `docs/protocol/extension_generate.md`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from lazy_dataclasses import dataclass, field
from loadgen.driver.client.plain_json import PlainSSE

if TYPE_CHECKING:
    from collections.abc import Mapping

_BODY: Final[Mapping[str, Any]] = {
    "text_input": "{prompt}",
    "max_tokens": "{max_tokens}",
    "temperature": "{temperature}",
    "stream": True,
    "exclude_input_in_output": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TritonGenerate(PlainSSE):
    """A stream of Triton, below the URL of a model."""

    path: str = "/generate_stream"
    body: Mapping[str, Any] = field(default_factory=lambda: _BODY)
    text_at: str = "text_output"

    title: ClassVar[str] = "Triton's generate extension; --url http://HOST:PORT/v2/models/NAME"
    stream: ClassVar[str] = "always"
    checks: ClassVar[str] = "kserve_checks"
