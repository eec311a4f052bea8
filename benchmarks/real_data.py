"""Real tables, not part of the project: Adult, made dynamic, and medical receipts, which are.

They are looked for in the folder that `REPUBLISH_DATA` names, else in `../shared/data` beside the
repository. Who has neither can run everything else.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.series import dynamic_series

SEED = 1996
ADULT_COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "class",
]  # fmt: skip
ADULT_CATEGORIES = ["education", "marital-status", "race", "sex", "native-country"]


def data_folder() -> Path | None:
    """Where the real data is; None if it isn't here."""
    named = os.environ.get("REPUBLISH_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if (folder / "adult").is_dir() and (folder / "receipts").is_dir() else None


WHY_NOT = "the real data isn't here: REPUBLISH_DATA names no folder with adult/ and receipts/"
"""What to say where `data_folder` finds nothing."""


def is_here() -> bool:
    """Whether there is real data to measure; says so where there is none."""
    if data_folder() is None:
        print(WHY_NOT, file=sys.stderr)
    return data_folder() is not None


def adult(folder: Path) -> pl.DataFrame:
    """The 30,162 training rows of Adult without missing values, with a `person_id`.

    Parameters
    ----------
    folder
        As `data_folder` has it.

    References
    ----------
    Becker and Kohavi, Adult, UCI Machine Learning Repository, 1996. CC BY 4.0.
    """
    rows = pl.read_csv(
        folder / "adult" / "adult.data", has_header=False, new_columns=ADULT_COLUMNS, infer_schema=False
    )
    stripped = rows.with_columns(pl.all().str.strip_chars(" ")).drop_nulls()
    complete = stripped.filter(pl.all_horizontal(pl.all() != "?"))
    return complete.select(
        pl.int_range(pl.len()).alias("person_id"),
        pl.col("age").cast(pl.Int64),
        *ADULT_CATEGORIES,
        "occupation",
    )


def adult_series(
    folder: Path, live: int = 15_000, r: int = 1500, releases: int = 10, seed: int = SEED
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Adult made dynamic the way the m-invariance paper does: monthly, r people replaced each time."""
    return dynamic_series(adult(folder), live, r, releases, seed)


def adult_contract(folder: Path, m: int = 6) -> dict[str, Any]:
    """The contract of Adult, all but its source: occupation is sensitive, the hierarchies are those given."""
    return {
        "product": "adult",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person_id",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [17, 90]},
            *(
                {"name": name, "kind": "category", "hierarchy": adult_hierarchy(folder, name)}
                for name in ADULT_CATEGORIES
            ),
        ],
        "sensitive": {
            "name": "occupation",
            "values": [leaf for leaf, *_ in adult_hierarchy(folder, "occupation")],
        },
        "principle": {"name": "m_invariance", "m": m},
    }


def adult_hierarchy(folder: Path, name: str) -> list[list[str]]:
    """The paths `leaf, parent, …, root` of one attribute."""
    with (folder / "adult" / f"adult_hierarchy_{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return [path for path in csv.reader(file, delimiter=";") if path]


CHAPTERS = [f"{letter}00" for letter in "ACEFGHIJKLMNOPQRS"] + ["D50", "H60"]
"""The chapters of the ICD-10 that receipts have. Some appear first with a person whose chapter changed."""


def receipts_series(folder: Path, first_year: int = 2016) -> Iterator[tuple[str, pl.DataFrame]]:
    """Half-yearly snapshots of the people treated in that half year, until 2021.

    Yields
    ------
    tuple[str, polars.DataFrame]
        The half year's first day, and `person_id`, `sex`, `birth_year` and `chapter`: that of the ICD-10
        on the person's latest receipt of the half year (of a month's receipts, the last in the file); and its
        `month`, 1 to 12.

    References
    ----------
    questforwisdom/anonypyx, MIT.
    """
    receipts = pl.read_csv(folder / "receipts" / "receipt.csv", infer_schema=False)
    month = pl.col("treatment_ym").str.to_date("%Y/%m")
    in_half = receipts.with_columns(
        month=month, half=pl.date(month.dt.year(), pl.when(month.dt.month() <= 6).then(1).otherwise(7), 1)
    ).filter(pl.col("month").dt.year() >= first_year)
    latest = in_half.sort("month", maintain_order=True).group_by("half", "iid").last().sort("half", "iid")
    for (half,), people in latest.group_by("half", maintain_order=True):
        yield (
            half.isoformat(),
            people.select(
                pl.col("iid").alias("person_id"),
                "sex",
                pl.col("birth_ym").str.head(4).cast(pl.Int64).alias("birth_year"),
                pl.col("icd10").alias("chapter"),
                pl.col("month").dt.month().cast(pl.Int64),
            ),
        )


def receipts_contract(m: int = 3, first_year: int = 2016) -> dict[str, Any]:
    """The contract of the receipts, all but its source.

    A chapter comes and goes with the illness. m-invariance protects values that persist, so that the contract
    declares it persistent and each changed chapter counts as an exception: what is promised holds for every
    record, and for nobody's history (`benchmarks.global_guarantee` has the principle that bounds that).
    """
    return {
        "product": "receipts",
        "series": "v1",
        "releases": {"first": f"{first_year}-01-01", "cron": "0 0 1 1,7 *"},
        "identifier": "person_id",
        "quasi_identifiers": [
            {"name": "sex", "kind": "category", "order": ["F", "M"]},
            {"name": "birth_year", "kind": "number", "domain": [1940, 2021]},
        ],
        "sensitive": {"name": "chapter", "semantics": "persistent", "values": CHAPTERS},
        "principle": {"name": "m_invariance", "m": m, "on_ineligible": "counterfeit", "people_per_group": 2},
    }


def free1_series(
    folder: Path, live: int = 2500, r: int = 200, releases: int = 8, seed: int = 1
) -> Iterator[tuple[str, pl.DataFrame]]:
    """4,000 people of a labour force file, made dynamic as Adult is: monthly, r people replaced each time.

    References
    ----------
    sdcTools/sdcMicro, GPL-2.
    """
    columns = ["AGE", "REGION", "SEX", "MARSTAT", "EDUC1"]
    people = pl.read_csv(folder / "free1" / "free1.csv", columns=columns).cast(pl.Int64)
    return dynamic_series(people.with_row_index("person").cast(pl.Int64), live, r, releases, seed)


def free1_contract() -> dict[str, Any]:
    """The contract of the labour force file, all but its source and principle: education is sensitive."""
    domains = {"AGE": [15, 74], "REGION": [1, 182], "SEX": [1, 2], "MARSTAT": [1, 4]}
    return {
        "product": "free1",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": name, "kind": "number", "domain": domain} for name, domain in domains.items()
        ],
        "sensitive": {"name": "EDUC1", "values": [1, 2, 3, 4, 5, 6, 7, 9]},
    }


MOST_REVENUE = 30_000
"""Larger revenues of a utility count as this one."""


def utilities_series(folder: Path, months: int = 8) -> Iterator[tuple[str, pl.DataFrame]]:
    """Monthly sales of 341 electric utilities in 1996; sensitive is in which tenth its sales to industry are.

    References
    ----------
    U.S. Energy Information Administration, form EIA-826, in the form of sdcTools/sdcMicro. Public domain.
    """
    sales = pl.read_csv(folder / "eia" / "eia.csv", infer_schema_length=None)
    tenth = (pl.col("INDSALES").rank("ordinal").cast(pl.Int64) * 10) // (pl.len() + 1)
    coded = sales.select(
        "MONTH",
        pl.format("{}-{}", "UTILITYID", "STATE").alias("utility"),
        pl.col("RESREVENUE", "COMREVENUE").clip(0, MOST_REVENUE),
        "STATE",
        tenth.cast(pl.Int64).alias("tenth"),
    )
    for month in range(1, months + 1):
        yield f"1996-{month:02}-01", coded.filter(MONTH=month).drop("MONTH")


def utilities_contract(folder: Path) -> dict[str, Any]:
    """The contract of the utilities, all but its source and principle."""
    states = pl.read_csv(folder / "eia" / "eia.csv", columns=["STATE"])["STATE"].unique().sort()
    return {
        "product": "utilities",
        "series": "v1",
        "releases": {"first": "1996-01-01", "cron": "0 0 1 * *"},
        "identifier": "utility",
        "quasi_identifiers": [
            {"name": "RESREVENUE", "kind": "number", "domain": [0, MOST_REVENUE]},
            {"name": "COMREVENUE", "kind": "number", "domain": [0, MOST_REVENUE]},
            {"name": "STATE", "kind": "category", "order": states.to_list()},
        ],
        "sensitive": {"name": "tenth", "values": list(range(10))},
    }
