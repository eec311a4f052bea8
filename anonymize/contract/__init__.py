"""What a data product declares: a contract, one module for each part of it.

`contract` has the whole, `schema` the columns and their roles, `attributes` and `sensitive` the columns,
`source` where snapshots come from, `parameters` what all principles' parameters share, `faults` the errors.
"""

from anonymize.contract.attributes import (
    CategoryAttribute,
    DateAttribute,
    NumberAttribute,
    QuasiIdentifier,
)
from anonymize.contract.contract import Contract
from anonymize.contract.parameters import Parameters
from anonymize.contract.schema import Schema
from anonymize.contract.sensitive import Sensitive
from anonymize.contract.source import FileSource, QuerySource, Releases

__all__ = [
    "CategoryAttribute",
    "Contract",
    "DateAttribute",
    "FileSource",
    "NumberAttribute",
    "Parameters",
    "QuasiIdentifier",
    "QuerySource",
    "Releases",
    "Schema",
    "Sensitive",
]
