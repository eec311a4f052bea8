"""A contract, for programs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from republish.anonymize.contract import Product
from republish.orchestration.audit.read.folders import UNNEEDED
from republish.orchestration.contracts.contract_file import ContractFile, contract_of, load_contract

DEFAULTS = {**UNNEEDED, "product": "table", "series": "v1"}
"""What a contract for a program need not say: it brings the people and the dates."""


@dataclass(frozen=True)
class Contract:
    """What a table's columns are, and what is promised of the people in it.

    `product`, `series`, `source` and `releases` may be left out.
    """

    file: ContractFile
    """What is declared, and the folder that hierarchies are read from."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the YAML of a contract, and the hierarchies that it names.

        Raises ContractError, which names the file and every fault in it.
        """
        return cls(load_contract(Path(path), DEFAULTS, is_scheduled=False))

    @classmethod
    def of(cls, declared: Mapping[str, Any], folder: str | Path = ".") -> Self:
        """A contract of what its YAML would say; hierarchies are files in a folder.

        Raises ContractError, which names every fault.

        Examples
        --------
        >>> contract = Contract.of({
        ...     "identifier": "name",
        ...     "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 120]}],
        ...     "sensitive": {"name": "disease"},
        ...     "principle": {"name": "m_invariance", "m": 2},
        ... })
        >>> contract.product.sensitive.name
        'disease'
        """
        path = Path(folder).absolute() / "contract"
        sha256 = hashlib.sha256(json.dumps(declared, sort_keys=True, default=str).encode()).hexdigest()
        return cls(contract_of({**DEFAULTS, **declared}, path, sha256, where="contract"))

    @property
    def product(self) -> Product:
        """The columns, the principle and its parameters."""
        return self.file.contract
