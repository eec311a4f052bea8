"""The declarations of a data product. Parsed once, validated at construction, read-only ever after.

There are two shapes. A principle says which one its contracts have.
"""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from republish.anonymize.contract.parameters import P_co
from republish.anonymize.contract.product import Product
from republish.anonymize.contract.schema import Schema, View, role_fault


class Contract(Product[P_co], Schema):
    """A table with quasi-identifiers and a sensitive column, of which nobody may learn a person's value."""

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        names = [qi.name for qi in self.quasi_identifiers]
        sensitive = [one.name for one in self.sensitive.columns]
        if fault := role_fault(self.identifier, names, sensitive, self.row):
            raise ValueError(fault)
        if self.row is not None and self.rows == "one":
            raise ValueError("row: is for people with several rows. Write rows: several, or leave it out")
        return self

    @property
    def table_schema(self) -> Schema:
        """The columns and their roles, without what is promised of them."""
        return Schema.model_validate({name: getattr(self, name) for name in Schema.model_fields})


class ViewContract(Product[P_co], View):
    """A view: columns of people of whom other columns may have been published before."""

    @property
    def table_schema(self) -> View:
        """The columns, without what is promised of them."""
        return View(identifier=self.identifier, columns=self.columns)
