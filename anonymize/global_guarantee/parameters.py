"""The parameters of the global guarantee in a contract."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictFloat,
    StrictInt,
    ValidationInfo,
    field_validator,
    model_validator,
)

from republish.anonymize.contract import Contract, FromTwo, Parameters, too_few_values

FIRST_SHARE = 0.5
"""Where a contract names the strategy `geometric` and no `a`."""


def _share(declared: Any) -> Any:
    if declared is not None and (type(declared) not in (int, float) or not 0 < declared < 1):
        raise ValueError(f"must be a number between 0 and 1, both excluded, not {declared}")
    return declared


class GlobalGuarantee(Parameters):
    """Whoever knows all groups links nobody to a value, ever, with more than 1/l; values may change."""

    name: Literal["global_guarantee"]
    """`global_guarantee`"""
    l: FromTwo
    """The probability that a person ever had a value is at most 1/l, for every value. At least 2."""
    strategy: Literal["constant_ratio", "geometric", "minimum"]
    """How much of a person's budget one release may spend: an equal part for each of `releases`, the share 1
    - a of what remains, or all that remains."""
    releases: StrictInt | None = None
    """For `constant_ratio`: how many releases may link a person to one value. At least 1."""
    a: Annotated[StrictFloat | None, BeforeValidator(_share)] = None
    """For `geometric`: the share of the remaining budget that a release leaves to later ones, 0 < a < 1; 0.5
    if it is not given."""
    on_ineligible: Literal["refuse", "wait"] = "refuse"
    """When a value is too frequent for anybody to be placed: no release, or a shard without rows."""
    forget_after: StrictInt | None = None
    """People absent from this many releases in a row are forgotten. Without it, nobody ever is."""
    rows_per_person: StrictInt | None = Field(None, exclude_if=lambda most: most is None)
    """With `rows: several`, the most rows of a person in a release, which divide what it may spend among
    them. Further rows are left out, by lot."""

    @field_validator("releases", "forget_after", "rows_per_person")
    @classmethod
    def _check_positive(cls, number: int | None, field: ValidationInfo) -> int | None:
        if number is not None and number < 1:
            counted = "rows" if field.field_name == "rows_per_person" else "releases"
            raise ValueError(f"must be a whole number of {counted} from 1 on, not {number}")
        return number

    @model_validator(mode="after")
    def _check_strategy(self) -> GlobalGuarantee:
        if self.strategy == "constant_ratio" and self.releases is None:
            raise ValueError("releases is missing: constant_ratio divides the budget among so many releases")
        for key, owner in (("releases", "constant_ratio"), ("a", "geometric")):
            if getattr(self, key) is not None and self.strategy != owner:
                raise ValueError(
                    f"{key} is a parameter of strategy {owner}, not of {self.strategy}: leave it out"
                )
        return self


def faults(contract: Contract[GlobalGuarantee]) -> list[tuple[str, str]]:
    """Faults of a contract under the global guarantee: fewer declared values than l, and of several rows."""
    return [*too_few_values("l", contract.principle.l, contract.sensitive), *_of_several_rows(contract)]


def _of_several_rows(contract: Contract[GlobalGuarantee]) -> list[tuple[str, str]]:
    """List what a contract where people have several rows must say, and what it can't have."""
    key, most = "principle.rows_per_person", contract.principle.rows_per_person
    if contract.rows == "one":
        message = "is for people with several rows. Write rows: several, or leave it out"
        return [] if most is None else [(key, message)]
    faults = []
    if most is None:
        message = (
            "is missing: write how many rows of one person a release may have (3, say). They divide what a"
            " release may spend of the person's budget"
        )
        faults.append((key, message))
    if contract.row is None:
        message = (
            "is missing: without it, rows are told apart by what they say, and which of a person's rows are"
            " left out would depend on their values. Name the column that tells a row from all others"
        )
        faults.append(("row", message))
    if contract.sensitive.semantics == "persistent":
        message = (
            "is refused with rows: several: global_guarantee takes each row's value as drawn anew. Write"
            " transient, and publish each row once, or use a principle for values that persist"
        )
        faults.append(("sensitive.semantics", message))
    for is_there, name, way_out in (
        (bool(contract.sensitive.not_sensitive), "sensitive.not_sensitive", "leave it out"),
        (bool(contract.corrections), "corrections", "begin a new series"),
    ):
        if is_there:
            message = "is refused with rows: several: its proof is about people with one row"
            faults.append((name, f"{message}. {way_out[0].upper()}{way_out[1:]}"))
    return faults
