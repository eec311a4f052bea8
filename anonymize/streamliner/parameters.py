"""The parameters of the streamliner in a contract, and the checks of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, StrictInt, field_validator, model_validator

from republish.anonymize.buckets.parameters import OnIneligible, OnValueChange, PeoplePerGroup
from republish.anonymize.contract import Contract, FromTwo, Parameters, too_few_values


class StreamlinerParameters(Parameters):
    """Privacy streamliner: one l-diverse release that is safe against adversaries who know the algorithm."""

    name: Literal["streamliner"]
    """`streamliner`"""
    l: FromTwo
    """No one's value is learnt with a probability above 1/l. At least 2."""
    method: Literal["ria", "rda", "gda"] = "gda"
    """How candidates are chosen: at random and independently (one huge group, for study), at random in small
    groups (least discernibility), or in small groups of near quasi-identifiers."""
    weights: Mapping[str, StrictInt] = Field(default_factory=dict)
    """For gda: the weight of each quasi-identifier's rank in a distance; 1 where none is given."""
    merge: Literal["none", "ncp"] = "none"
    """Of no effect, and accepted for older contracts."""
    then: Literal["m_invariance"] | None = None
    """What later releases follow, with m = l; without it, the series has one release."""
    on_ineligible: OnIneligible = "refuse"
    """For the releases after the first, as m_invariance has it."""
    on_value_change: OnValueChange = "separate"
    """For the releases after the first, as m_invariance has it."""

    people_per_group: PeoplePerGroup = 1
    """For the releases after the first, as m_invariance has it."""

    @field_validator("weights")
    @classmethod
    def _check_weights(cls, weights: Mapping[str, int]) -> Mapping[str, int]:
        if wrong := [name for name, weight in weights.items() if not 0 <= weight < 2**31]:
            raise ValueError(f"the weight of {wrong[0]} ({weights[wrong[0]]}) must be between 0 and 2^31 - 1")
        return dict(weights)

    @model_validator(mode="after")
    def _check_combination(self) -> StreamlinerParameters:
        if self.weights and self.method != "gda":
            raise ValueError(f"weights are for method gda; {self.method} does not look at quasi-identifiers")
        if self.then and self.method == "ria":
            raise ValueError(
                "then: m_invariance needs groups of distinct values, and ria's groups repeat values: choose"
                " method rda or gda"
            )
        later = ("on_ineligible", "on_value_change", "people_per_group")
        given = [name for name in later if getattr(self, name) != type(self).model_fields[name].default]
        if given and not self.then:
            raise ValueError(
                f"{min(given)} is for later releases, and there are none without then: m_invariance"
            )
        return self


def contract_faults(contract: Contract[StreamlinerParameters]) -> list[tuple[str, str]]:
    """Faults between the streamliner's parameters and the columns: `(key, what is wrong and the way out)`."""
    parameters = contract.principle
    faults = too_few_values("l", parameters.l, contract.sensitive)
    names = [qi.name for qi in contract.quasi_identifiers]
    faults += [
        ("principle.weights", f"{name} is no quasi-identifier; accepted: {', '.join(names)}")
        for name in parameters.weights
        if name not in names
    ]
    return faults
