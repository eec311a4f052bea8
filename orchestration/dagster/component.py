"""The component `republish.ReleaseProduct`: a product among the assets of any Dagster project."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import dagster as dg
from dagster.components import Scaffolder, ScaffoldRequest
from dagster.components.component_scaffolding import scaffold_component

from republish.anonymize.errors import ContractError
from republish.orchestration.contracts.contract_file import ContractFile, load_contract
from republish.orchestration.contracts.registry import SHIPPED, loaded_contracts
from republish.orchestration.dagster import partitions
from republish.orchestration.dagster.automation import note_series
from republish.orchestration.dagster.factory import product_definitions
from republish.orchestration.series.homes import default_home, nearest_home
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home

EXAMPLE = """\
product: {product}
series: v1                         # another series of the same product begins a new chain
source: {{path: "snapshots/{{release}}.parquet"}}    # relative to this file
releases: {{first: 2024-01-01, cron: "0 0 1 1,7 *"}}
# upstream: [warehouse/patients]   # assets that a release waits for
identifier: patient_id             # never published
quasi_identifiers:                 # what others may know about a person
  - {{name: age, kind: number, domain: [0, 120], min_width: 2}}
  - {{name: sex, kind: category, order: [F, M]}}
sensitive: {{name: disease}}         # what nobody may learn
principle: {{name: {principle}, m: 3}}   # how many of them stay possible for each person
"""
"""A contract to be changed; its principle is that of the example that is shipped."""


class ReleaseProductScaffolder(Scaffolder[Any]):
    """Writes defs.yaml, and a contract beside it to be changed."""

    def scaffold(self, request: ScaffoldRequest[Any]) -> None:
        """Write both files, unless there is a contract already."""
        scaffold_component(request, {"contract": "contract.yaml"})
        contract = request.target_path / "contract.yaml"
        if not contract.exists():
            product = re.sub("[^a-z0-9_]", "_", request.target_path.name.lower())
            principle = load_contract(SHIPPED / "hospital.yaml").contract.principle.name
            contract.write_text(EXAMPLE.format(product=product, principle=principle), encoding="utf-8")


@dg.scaffold_with(ReleaseProductScaffolder)
class ReleaseProduct(dg.Component, dg.Model, dg.Resolvable):
    """Releases of a table of people: nobody who collects all of them learns a person's sensitive value.

    Its assets are partitioned by release, and come with their checks, a job, a schedule and two sensors. They
    depend on what the contract names as `upstream`.
    """

    contract: str | dict[str, Any]
    """The contract: its file, relative to defs.yaml, or all of it in defs.yaml itself."""
    home: str | None = None
    """The publisher's folder, relative to defs.yaml; without it REPUBLISH_HOME, or the nearest `var`."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of the product. Raises ContractError where the contract has faults."""
        return self.definitions(context.path)

    def definitions(self, folder: Path, among: Collection[ContractFile] | None = None) -> dg.Definitions:
        """The definitions of the product.

        Parameters
        ----------
        folder
            What paths are relative to; an inline contract is in its `defs.yaml`.
        among
            The contracts of the home, as far as they are known already. One that is among them is not read
            again.
        """
        # An inline contract is read from its file, too: by its own rules, and as commands read it.
        name = self.contract if isinstance(self.contract, str) else "defs.yaml"
        named = None if self.home is None else folder / self.home
        place = (folder / name).absolute()
        try:
            file = next((one for one in among or () if one.path == place), None) or load_contract(
                folder / name
            )
        except ContractError:
            note_series(Home.named(named, nearest_home(folder / name)), folder / name, None)
            raise
        home = Home.named(named, default_home(file))
        note_series(home, file.path, file.contract.series)
        known = loaded_contracts(home) if among is None else among
        return product_definitions(Series(file, home), among=known)


def release_partitions(contract: str | Path) -> dg.TimeWindowPartitionsDefinition:
    """The releases of a contract as partitions, for assets that its snapshots are made from.

    Parameters
    ----------
    contract
        The contract's file, or the `defs.yaml` that it is in.
    """
    return partitions.release_partitions(load_contract(Path(contract)))
