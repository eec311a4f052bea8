"""What the UI shows of releases in generalized form: their columns, and how wide intervals are."""

from __future__ import annotations

from typing import Any

import dagster as dg
import polars as pl

from anonymize.codes import code_domain, encode
from anonymize.contract import Contract
from orchestration.product.charts import axes, picture
from orchestration.series import Series


def columns(contract: Contract) -> list[dg.TableColumn]:
    """The columns of `microdata`."""
    ends = [
        dg.TableColumn(
            f"{qi.name}_{end}", str(qi.dtype), description=f"{which} value of {qi.name} in the group"
        )
        for qi in contract.quasi_identifiers
        for end, which in (("low", "lowest"), ("high", "highest"))
    ]
    sensitive = dg.TableColumn(
        contract.sensitive.name, description="of somebody in the group, or a counterfeit"
    )
    return [dg.TableColumn("group_id", "Int64", description="numbered by content"), *ends, sensitive]


def origins(contract: Contract) -> dict[str, str]:
    """The snapshot's column each published one is from."""
    origin = {f"{qi.name}_{end}": qi.name for qi in contract.quasi_identifiers for end in ("low", "high")}
    return origin | {contract.sensitive.name: contract.sensitive.name}


def charts(series: Series, release: str) -> dict[str, Any]:
    """How wide the published intervals are; nothing if the candidate's file is not kept any more."""
    microdata = series.private(release) / "candidate-microdata.parquet"
    return {"interval widths": _width_chart(microdata, series.contract)} if microdata.exists() else {}


def _width_chart(microdata, contract: Contract) -> dg.MarkdownMetadataValue:
    """For each attribute, groups by the share of the domain covered."""
    groups = pl.scan_parquet(microdata).unique("group_id").collect()
    figure, plot = axes()
    for qi in contract.quasi_identifiers:
        shares = _shares(groups, qi)
        plot.plot(
            shares.sort(), pl.int_range(1, len(shares) + 1, eager=True) / max(1, len(shares)), label=qi.name
        )
    plot.set(
        xlabel="share of the domain an interval covers", ylabel="share of groups", xlim=(0, 1), ylim=(0, 1)
    )
    plot.legend(frameon=False, fontsize=8, loc="lower right")
    plot.spines[["top", "right"]].set_visible(False)
    return picture(figure, "interval widths")


def _shares(groups: pl.DataFrame, qi) -> pl.Series:
    low, high = (encode(pl.col(f"{qi.name}_{end}"), qi) for end in ("low", "high"))
    lowest, highest = code_domain(qi)
    extent = highest - lowest + int(qi.discrete)
    return groups.select(((high - low + int(qi.discrete)) / max(extent, 1e-300)).alias("share")).to_series()
