"""A contract, in which a data product is declared: one module for each part of it.

`contract` has the whole in its two shapes, `product` what both have, `schema` the columns and their roles,
`attributes` and `sensitive` the columns, `combined` several sensitive ones as one, `source` where snapshots
come from, `previous` releases of others, `parameters` what all principles' parameters share, `earlier` what
contracts of earlier versions said, `faults` the errors.
"""

from republish.anonymize.contract.attributes import (
    CategoryAttribute,
    CategoryColumn,
    DateAttribute,
    NumberAttribute,
    NumberColumn,
    QuasiIdentifier,
)
from republish.anonymize.contract.contract import Contract, ViewContract
from republish.anonymize.contract.parameters import FromTwo, Parameters, too_few_values
from republish.anonymize.contract.previous import PreviousRelease
from republish.anonymize.contract.product import Catalogue, Governance, Product
from republish.anonymize.contract.schema import Schema, Table, View
from republish.anonymize.contract.sensitive import Sensitive
from republish.anonymize.contract.source import (
    CSV,
    EACH_FILE,
    NO_DATABASE,
    Dialect,
    FileSource,
    QuerySource,
    Releases,
    TableSource,
    Written,
    is_in_store,
)

__all__ = [
    "CSV",
    "EACH_FILE",
    "NO_DATABASE",
    "Catalogue",
    "CategoryAttribute",
    "CategoryColumn",
    "Contract",
    "DateAttribute",
    "Dialect",
    "FileSource",
    "FromTwo",
    "Governance",
    "NumberAttribute",
    "NumberColumn",
    "Parameters",
    "PreviousRelease",
    "Product",
    "QuasiIdentifier",
    "QuerySource",
    "Releases",
    "Schema",
    "Sensitive",
    "Table",
    "TableSource",
    "View",
    "ViewContract",
    "Written",
    "is_in_store",
    "too_few_values",
]
