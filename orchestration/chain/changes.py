"""Changes in the contract since the release before: safe, accepted by name, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from republish.anonymize.contract import CategoryAttribute, Contract, Product
from republish.anonymize.contract.changes import Change, begun_on_grid, column_changes, declared_columns
from republish.anonymize.errors import ContractError
from republish.anonymize.principles import principle_of
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.predecessor import predecessor_of
from republish.orchestration.series.series import Series


def declared(contract: Product) -> dict[str, Any]:
    """A contract's columns, principle and expectations as JSON.

    It is kept to be compared with the next one, and for the record of processing.
    """
    return {
        **declared_columns(contract),
        **{part: getattr(contract, part).model_dump(mode="json") for part in ("principle", "expect")},
    }


def contract_changes(before: Mapping[str, Any] | None, contract: Product) -> list[Change]:
    """Changes in a contract since a release.

    `before` is what `declared` returned for it; None before the first.
    """
    if before is None:
        return []
    principle = principle_of(contract)
    columns = {name: part for name, part in before.items() if name not in ("principle", "expect")}
    if before["principle"].get("name") != principle.name:
        return column_changes(columns, contract)
    former = principle.parameters.model_validate(before["principle"])
    return [*column_changes(columns, contract), *principle.parameter_changes(former, contract.principle)]


def as_begun(series: Series, release: str) -> Series:
    """A series with intervals that end as those of its releases do (`ending_as_begun`)."""
    own = series.record(release) if series.is_published(release) else None
    before = own.declared if own is not None else predecessor_of(series, release).declared
    contract = ending_as_begun(series.contract, before)
    if contract is series.contract:
        return series
    return replace(series, file=replace(series.file, contract=contract))


def ending_as_begun(contract: Product, before: Mapping[str, Any] | None) -> Product:
    """A contract whose intervals end on the grid where a series that versions below 1.0 have begun has them.

    `before` is what `declared` returned for the release before; None before the first.
    """
    on_grid = {
        one.name: one.on_grid()
        for _, one in contract.attributes()
        if isinstance(one, CategoryAttribute) and one.cells is not None and begun_on_grid(before, one)
    }
    if not on_grid or not isinstance(contract, Contract):
        return contract
    columns = tuple(on_grid.get(one.name, one) for one in contract.quasi_identifiers)
    return contract.model_copy(update={"quasi_identifiers": columns})


def describe_changes(changes: list[Change]) -> list[str]:
    """Each change in a line: what, from what to what, and whether it is safe."""
    says = {
        "safe": "safe: what was promised still holds",
        "consent": "weakens what is promised, or makes releases harder to compare",
        "new series": "needs a new series",
    }
    return [f"{change.name}: {change.says} ({says[change.verdict]}). {change.why}" for change in changes]


def refuse_changes(file: ContractFile, release: str, before: Mapping[str, Any] | None) -> None:
    """Raise ContractError if the contract changed in a way that is neither safe nor accepted by name."""
    contract = file.contract
    accepted = contract.accepted(release)
    begin = "begin a new series" + (" that supersedes none" if contract.supersedes else "")
    faults = []
    for change in contract_changes(before, contract):
        if change.verdict == "new series":
            faults.append((change.name, f"{change.says}: {begin}. {change.why}"))
        elif change.verdict == "consent" and change.name not in accepted:
            out = f"if you consent, write accept: {{{release}: [{change.name}]}}"
            faults.append(
                (change.name, f"{change.says} since the release before. {change.why} Undo it; or, {out}")
            )
    if faults:
        raise ContractError(str(file.path), faults)
