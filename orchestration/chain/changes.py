"""Changes in the contract since the release before: safe, accepted by name, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from republish.anonymize.contract import Product
from republish.anonymize.contract.changes import Change, column_changes, declared_columns
from republish.anonymize.errors import ContractError
from republish.anonymize.principles import principle_of
from republish.orchestration.contracts.contract_file import ContractFile


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
