"""`system_power.json` of a submission: the system's provisioned power, by figures that are public.

mlcommons/endpoints-submission-cli 1.5.3.0 (PyPI): submission_checker/models/file/system_power.py. That tool
adds the figures up; here are the members that it requires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic import BaseModel, Field, model_validator

from loadgen.plugins.mlperf.system_description import member_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_EXAMPLES: Final[Mapping[str, str]] = {
    "system_desc_id": "8xH200",
    "cooling": "air",
    "node_sets": (
        "[{node_set_id: 1, system_node_ensemble_id: 1, nodes_provisioned: 1, power_method: published_system, "
        "published_power: {value_kw: 10.2, source_type: vendor_spec, source: 'https://example.com/8xH200'}}]"
    ),
    "scale_out": "{present: false}",
    "declared_provisioned_power": (
        "{value_kw: 10.2, source_type: public_statement, source: 'https://example.com/8xH200'}"
    ),
}
_OF_A_FABRIC: Final = ("cabling", "required_bandwidth_tbps", "nics", "switches")


class _PublicFigure(BaseModel):
    value_w: float | None = Field(None, ge=0)
    value_kw: float | None = Field(None, ge=0)
    value_pj: float | None = Field(None, ge=0)
    source_type: Literal["vendor_spec", "publication", "public_statement", "mlc_default"]
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _has_one_value(self) -> Self:
        if [self.value_w, self.value_kw, self.value_pj].count(None) != 2:  # noqa: PLR2004 (all but one)
            raise ValueError("needs exactly one of value_w, value_kw and value_pj")
        return self


class _NodeSet(BaseModel):
    node_set_id: int
    system_node_ensemble_id: int
    nodes_provisioned: int = Field(gt=0)
    power_method: Literal["component_sum", "published_system", "node_scaling"]
    published_power: _PublicFigure | None = None
    components: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _has_its_figures(self) -> Self:
        member = "components" if self.power_method == "component_sum" else "published_power"
        if getattr(self, member) is None:
            raise ValueError(f"{self.power_method} needs {member}")
        return self


class _ScaleOut(BaseModel, extra="allow"):
    present: bool

    @model_validator(mode="after")
    def _describes_the_fabric(self) -> Self:
        if self.present and (absent := set(_OF_A_FABRIC) - set(self.model_extra or {})):
            raise ValueError(f"present: true needs {', '.join(sorted(absent))}")
        return self


class _SystemPower(BaseModel):
    system_desc_id: str = Field(min_length=1)
    cooling: Literal["liquid", "air"]
    node_sets: list[_NodeSet] = Field(min_length=1)
    scale_out: _ScaleOut
    declared_provisioned_power: _PublicFigure | None = None


def faults(power: Mapping[str, Any]) -> Iterator[str]:
    """The members that are missing or wrong, each with what to write."""
    yield from member_faults("system_power", _SystemPower, power, _EXAMPLES)
