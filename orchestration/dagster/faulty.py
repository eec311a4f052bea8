"""A product whose contract has a fault: its releases stay, and the fault is a check that fails."""

import re
from collections.abc import Iterator, Sequence

import dagster as dg

from republish.orchestration.contracts.registry import faulty_contracts
from republish.orchestration.dagster.names import CONTRACT_CHECK, PUBLICATION, asset_key, group_name
from republish.orchestration.dagster.other_series import published_assets
from republish.orchestration.dagster.watch import Watched, watch_sensor
from republish.orchestration.series.other_series import siblings
from republish.orchestration.series.place import Place
from republish.orchestration.storage.home import Home

PROMISE = "The contract is one that releases can be made of."
WAY_OUT = (
    "Mend it, and choose *Deployment*, *Reload definitions*. A sensor or schedule that is on then waits until"
    " somebody turns it off and on."
)
MENDED = "The contract is valid again: choose *Deployment*, *Reload definitions*."


def faulty_definitions(home: Home, product: str, fault: str) -> dg.Definitions:
    """The assets of a product that nothing can be made of, until its contract is mended.

    They are those of all its series with published releases; of a product without any, one that says so.

    Parameters
    ----------
    home
        The publisher's folder.
    product
        The product, as the home's list of contracts names it.
    fault
        What is wrong with the contract, and the way out.
    """
    words = f"**Nothing can be released: the contract has a fault.**\n\n{_as_list(fault)}\n\n{WAY_OUT}"
    specs: dict[dg.AssetKey, dg.AssetSpec] = {}
    for place in siblings(home, product):
        specs |= {spec.key: spec for spec in published_assets(place, words)}
    if not specs:
        key = asset_key(Place(home, product, ""), PUBLICATION)
        specs[key] = dg.AssetSpec(key, description=words, group_name=group_name(key))
    shown_on = [key for key in specs if key.path[-1] == PUBLICATION]

    def found(_: dg.DagsterInstance) -> list[dg.AssetCheckEvaluation]:
        still = faulty_contracts(home).get(product)
        return [
            dg.AssetCheckEvaluation(
                asset_key=key,
                check_name=CONTRACT_CHECK,
                passed=still is None,
                description=MENDED if still is None else still[1],
            )
            for key in shown_on
        ]

    return dg.Definitions(
        assets=list(specs.values()),
        asset_checks=[_check(product, shown_on, found)],
        sensors=[watch_sensor(home, product, product, found)],
    )


def _as_list(fault: str) -> str:
    """Faults in Markdown, which would put them into one line and take what they quote for its own marks."""
    headline, *each = (re.sub(r"([\\\\`*<\[])", r"\\\1", line.strip()) for line in fault.splitlines())
    return "\n".join([headline, *(["", *(f"- {one}" for one in each)] if each else [])])


def _check(product: str, shown_on: Sequence[dg.AssetKey], found: Watched) -> dg.AssetChecksDefinition:
    @dg.multi_asset_check(
        name=f"{product}_contract",
        specs=[dg.AssetCheckSpec(CONTRACT_CHECK, asset=key, description=PROMISE) for key in shown_on],
    )
    def check(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        for one in found(context.instance):
            yield dg.AssetCheckResult(
                passed=one.passed,
                asset_key=one.asset_key,
                check_name=CONTRACT_CHECK,
                description=one.description,
            )

    return check
