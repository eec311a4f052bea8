"""A misspelt parameter or column is an error twice: at run time, and of the type checker.

`make lint` checks the types of this file, too. It fails if one of the comments below is not needed any more.
"""

from collections.abc import Callable

import pytest

from republish.anonymize.contract import Contract, Product, Table
from republish.anonymize.m_invariance.parameters import MInvariance
from republish.anonymize.principles import parse_contract
from tests.anonymize.contract.test_contract import hospital


def misspelt_parameter(contract: Contract[MInvariance]) -> object:
    return contract.principle.mm  # type: ignore[attr-defined]


def parameter_of_one_principle(contract: Product) -> object:
    return contract.principle.releases  # type: ignore[attr-defined]


def misspelt_key(contract: Product) -> object:
    return contract.serie  # type: ignore[attr-defined]


def misspelt_column(table: Table) -> object:
    return table.identifer  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "misspelt", [misspelt_parameter, parameter_of_one_principle, misspelt_key, misspelt_column]
)
def test_a_misspelt_name_is_an_error(misspelt: Callable[[Product], object]) -> None:
    with pytest.raises(AttributeError):
        misspelt(parse_contract(hospital()))
