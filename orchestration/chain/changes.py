"""Changes in the contract since the release before: safe, accepted by name, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from republish.anonymize.contract import CategoryAttribute, Contract, Product
from republish.anonymize.contract.changes import Change, begun_on_grid, column_changes, declared_columns
from republish.anonymize.contract.earlier import PROMISES, gone_policies, gone_promises
from republish.anonymize.errors import ContractError
from republish.anonymize.principles import parameters_stated, principle_of
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
    former = parameters_stated(before["principle"])
    changes = principle.parameter_changes(former, contract.principle)
    return [*column_changes(columns, contract), *_with_what_went(changes, before["principle"], contract)]


def _with_what_went(changes: list[Change], before: Mapping[str, Any], contract: Product) -> list[Change]:
    """Changes of the parameters, where a release of an earlier version stated some that went since."""
    by_name = {change.name: change for change in changes}
    for name, policy in gone_policies(before).items():
        says = f"{policy} -> {getattr(contract.principle, name)}"
        same = Change(name, says, "safe", "Nobody is held back alone any more, for the value that they have.")
        by_name[name] = replace(by_name.get(name, same), says=says)
    for name in gone_promises(before):
        says = "is not promised any more"
        why = "Candidate values of people who get a signature from now on may be close to one another."
        by_name[name] = Change(name, says, "consent", why)
    return list(by_name.values())


def as_begun(series: Series, release: str) -> Series:
    """A series with intervals that end as those of its releases do (`ending_as_begun`)."""
    own = series.record(release) if series.is_published(release) else None
    before = own.declared if own is not None else predecessor_of(series, release).declared
    contract = ending_as_begun(series.contract, before)
    if contract is series.contract:
        return series
    return replace(series, file=replace(series.file, contract=contract))


def ending_as_begun(contract: Product, before: Mapping[str, Any] | None) -> Product:
    """A contract whose intervals end on the grid where a series that versions below 0.30 have begun has them.

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
            ways = f"I{out[1:]}" if change.name in PROMISES else f"Undo it; or, {out}"
            faults.append((change.name, f"{change.says} since the release before. {change.why} {ways}"))
    if faults:
        raise ContractError(str(file.path), faults)
