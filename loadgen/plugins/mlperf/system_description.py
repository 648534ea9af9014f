"""`system_desc.json` of a submission: what the submission tool requires of it.

mlcommons/endpoints-submission-cli 1.5.3.0 (PyPI): submission_checker/models/file/system.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_FILE: Final = "system_desc"
_LOWER: Final = BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value)
_NODE: Final = (
    "{driver: '580.65', filesystem: ext4, host_memory_configuration: 32x 64 GB, "
    "host_network_card_count: 8x 400 Gbit/s, host_processor_core_count: 128}"
)
_EXAMPLES: Final[Mapping[str, str]] = {
    "availability_url": "https://example.com/8xH200",
    "division": "Standardized",
    "max_supported_concurrency": "1024",
    "node_types": f"[{_NODE}]",
    "shortened_system_name": "8xH200",
    "system_availability_status": "Available",
    "system_name": "8x NVIDIA H200",
    "system_node_ensemble_count": "1",
    "system_node_ensemble_total": "1",
    "system_size": "1 node with 8 accelerators",
    "target_availability_date": "2026-12-01",
}
_BY_STATUS: Final = {"available": "availability_url", "preview": "target_availability_date"}
"""The further member that a status needs."""


def member_faults(
    file: str, shape: type[BaseModel], members: Mapping[str, Any], examples: Mapping[str, str]
) -> Iterator[str]:
    """The members that are missing or wrong."""
    try:
        shape.model_validate(members)
    except ValidationError as error:
        for fault in error.errors():
            member = ".".join(map(str, fault["loc"]))
            yield _sentence(file, member, fault["msg"].removeprefix("Value error, ").lower(), examples)


def _sentence(file: str, member: str, reason: str, examples: Mapping[str, str]) -> str:
    """One fault, with an example of the member that has it."""
    name = member.partition(".")[0]
    return f"{file}.json: {member}: {reason}: --about FILE, {file}: {{{name}: {examples[name]}}}"


class _NodeType(BaseModel):
    driver: str
    filesystem: str
    host_memory_configuration: str
    host_network_card_count: str
    host_processor_core_count: int | None = None
    host_processor_vcpu_count: int | None = None

    @model_validator(mode="after")
    def _counts_processors(self) -> Self:
        if self.host_processor_core_count is None and self.host_processor_vcpu_count is None:
            raise ValueError("needs host_processor_core_count or host_processor_vcpu_count")
        return self


class _SystemDescription(BaseModel):
    division: Annotated[Literal["standardized", "serviced", "rdi"], _LOWER]
    max_supported_concurrency: int
    node_types: list[_NodeType]
    shortened_system_name: Annotated[str, Field(min_length=1, max_length=20)]
    system_availability_status: Annotated[Literal["available", "preview", "rdi"], _LOWER]
    system_name: str
    system_node_ensemble_count: int
    system_node_ensemble_total: int
    system_size: str


def faults(description: Mapping[str, Any]) -> Iterator[str]:
    """The members that are missing or wrong, each with what to write."""
    yield from member_faults(_FILE, _SystemDescription, description, _EXAMPLES)
    status = str(description.get("system_availability_status")).strip().lower()
    if (member := _BY_STATUS.get(status, "")) and not description.get(member):
        yield _sentence(_FILE, member, f"a system that is {status} needs it", _EXAMPLES)
