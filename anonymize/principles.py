"""The principles there are. A new one is a folder of its own, its suites, and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
from pydantic import ValidationError

from republish.anonymize.contract import Contract, FileSource, Parameters, Product
from republish.anonymize.contract.changes import acceptance_faults
from republish.anonymize.contract.earlier import parameters_today
from republish.anonymize.contract.faults import describe_faults
from republish.anonymize.e_equivalence import E_EQUIVALENCE
from republish.anonymize.errors import ContractError, RepublishError
from republish.anonymize.global_guarantee import GLOBAL_GUARANTEE
from republish.anonymize.m_invariance import M_INVARIANCE
from republish.anonymize.principle.principle import Draw, Principle
from republish.anonymize.principle.state import State
from republish.anonymize.sequential import SEQUENTIAL
from republish.anonymize.streamliner import streamliner

PRINCIPLES: dict[str, Principle] = {
    "m_invariance": M_INVARIANCE,
    "e_equivalence": E_EQUIVALENCE,
    "global_guarantee": GLOBAL_GUARANTEE,
    "streamliner": streamliner(M_INVARIANCE),
    "sequential": SEQUENTIAL,
}
"""Every principle by the name that contracts give it."""
SOME_PRINCIPLE = {"name": "m_invariance", "m": 2}
"""What a contract of tables in groups names that is audited alone, for what something else promises."""


def principle_of(contract: Product) -> Principle:
    """The principle that a contract names."""
    return PRINCIPLES[contract.principle.name]


def parameters_stated(stated: Mapping[str, Any]) -> Parameters:
    """The parameters that a manifest or a record states: of this version, or of an earlier one.

    Raises
    ------
    pydantic.ValidationError
        If they are none of the principle's.
    """
    of_principle: type[Parameters] = PRINCIPLES[stated["name"]].parameters
    return of_principle.model_validate(parameters_today(stated))


def publisher_of(
    contract: Product,
) -> Callable[[pl.DataFrame, Draw], Mapping[str, pl.DataFrame] | None]:
    """The algorithm of a contract's first releases, to be run by anybody who knows it.

    It turns people and secret randomness into published tables, or None where it refuses.
    """

    def publish(people: pl.DataFrame, draw: Draw) -> Mapping[str, pl.DataFrame] | None:
        try:
            return principle_of(contract).release(people, contract, State.empty(), 1, draw).published
        except RepublishError:
            return None

    return publish


def parse_contract(
    declared: Any, *, where: str = "contract", context: Mapping[str, Any] | None = None
) -> Product:
    """Parse the contract that a mapping declares (as read from YAML); raises all of its faults at once.

    `context` may have `read_hierarchy`, a function from a file's name to paths `(leaf, parent, …, root)`.

    Raises
    ------
    ContractError
        Naming every fault with its key and what is accepted.
    """
    if not isinstance(declared, Mapping):
        raise ContractError(where, [("", "must be a mapping of keys (product, series, source, …)")])
    principles = {name: principle.parameters for name, principle in PRINCIPLES.items()}
    shape = _shape(declared)
    try:
        contract = shape.model_validate(declared, context={**(context or {}), "principles": principles})
    except ValidationError as error:
        raise ContractError(where, describe_faults(declared, error, principles, shape)) from None
    if faults := [*acceptance_faults(contract), *_faults_together(contract)]:
        raise ContractError(where, faults)
    return contract


def with_parameters(contract: Product, parameters: Mapping[str, Any], *, where: str = "contract") -> Product:
    """A contract of the same columns under another principle, or under other parameters of it.

    Raises
    ------
    ContractError
        If such a contract would have faults.
    """
    principle = PRINCIPLES[parameters["name"]]
    try:
        declared = principle.parameters.model_validate(parameters)
    except ValidationError as error:
        faults = [("principle", one["msg"].removeprefix("Value error, ")) for one in error.errors()]
        raise ContractError(where, faults) from None
    other = contract.model_copy(update={"principle": declared})
    if faults := _faults_together(other):
        raise ContractError(where, faults)
    return other


def _faults_together(contract: Product) -> list[tuple[str, str]]:
    """Find what is wrong with a contract whose parts are each right."""
    principle = principle_of(contract)
    unfit = _unfit_semantics(contract, principle)
    return [
        *unfit,
        *_one_file(contract),
        *_one_column(contract, principle),
        *_one_row(contract, principle),
        *principle.format(contract).faults(contract),
        *principle.faults(contract),
        *_undivided(contract, principle),
    ]


def _one_column(contract: Product, principle: Principle) -> list[tuple[str, str]]:
    """The fault of a contract with several sensitive columns that can't have them."""
    if not principle.one_column or contract.sensitive is None or not contract.sensitive.is_several:
        return []
    meant = ", ".join(name for name, other in PRINCIPLES.items() if not other.one_column)
    message = f"{principle.name} takes one sensitive column, not a list: {principle.one_column}. Use {meant}"
    return [("sensitive", message)]


def _one_row(contract: Product, principle: Principle) -> list[tuple[str, str]]:
    """The fault of a contract with several rows of a person that can't have them."""
    if not principle.one_row or not isinstance(contract, Contract) or contract.rows == "one":
        return []
    meant = ", ".join(name for name, other in PRINCIPLES.items() if not other.one_row)
    message = (
        f"{principle.name} takes one row for each person: {principle.one_row}. Use {meant}, or publish one"
        " row of each: the last one, say"
    )
    return [("rows", message)]


def _one_file(contract: Product) -> list[tuple[str, str]]:
    """The fault of a contract with a schedule whose releases would all have the same file."""
    later = {f"sources.{date}": one for date, one in contract.sources.items()}
    return [
        (f"{key}.path", "needs {release} in it, or in where: each release has a snapshot of its own")
        for key, one in {"source": contract.source, **later}.items()
        if contract.releases.goes_on and isinstance(one, FileSource) and not one.names_release
    ]


def _undivided(contract: Product, principle: Principle) -> list[tuple[str, str]]:
    """The fault of a contract with shards that can't have any."""
    if contract.shards == 1:
        return []
    why = principle.undivided
    if not why and any(one.values is None for _, one in contract.sensitive_columns()):
        why = "each shard is checked by itself, and by sensitive.values alone: list the values there"
    return [("shards", f"must be 1: {why}")] if why else []


def _shape(declared: Mapping[str, Any]) -> type[Product]:
    """The shape of the named principle's contracts; of an unknown name, that with most of the keys."""
    principle = declared.get("principle")
    name = principle.get("name") if isinstance(principle, Mapping) else None
    if isinstance(name, str) and name in PRINCIPLES:
        return PRINCIPLES[name].contract
    shapes = dict.fromkeys(one.contract for one in PRINCIPLES.values())
    return max(shapes, key=lambda shape: len(shape.model_fields.keys() & declared.keys()))


def _unfit_semantics(contract: Product, principle: Principle) -> list[tuple[str, str]]:
    """The fault of a contract whose values come and go, under a principle for values that persist."""
    if contract.sensitive is None or contract.sensitive.semantics in principle.semantics:
        return []
    semantics = contract.sensitive.semantics
    meant = ", ".join(name for name, other in PRINCIPLES.items() if semantics in other.semantics)
    words = (
        f"{semantics} values come and go, and {principle.name} protects values that persist: a person has had"
        " many of them, and nothing would bound the probability of ever having had one. Use the principle"
        f" {meant}, or write persistent if a person's value changes by way of exception"
    )
    return [("sensitive.semantics", words)]
