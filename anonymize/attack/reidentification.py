"""Re-identification: rows and people with the same quasi-identifiers, and the values of such rows."""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.attack.coverage import covering
from republish.anonymize.attack.figures import DiversityFigures, LinkageFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.columns import VALUE, least_of, most_of
from republish.anonymize.people.codes import encode

MOST_POINTS = 10_000
"""Different quasi-identifiers that are placed in classes at a time: a person may be in hundreds of these."""


def attack_rows(seen: AttackInput, least: int | None) -> AttackResult:
    """Judge whether every row has the same quasi-identifiers as enough others; count the risks that follow.

    A class is all rows with the same published quasi-identifiers, counterfeits included; k rows are promised
    for each. An adversary finds the class that a person must be in, and takes one of its rows for the
    person's. The truth of the release is the population. Where nothing is promised, there are figures in
    audits alone.

    - *Prosecutor risk*: the adversary knows that the person is in the table. It is 1 by the rows of the
      class, and the largest one counts.
    - *Journalist risk*: the adversary does not know who is in the table, and takes a row for that of one of
      the people whom its class may be about. It is 1 by these people, and the largest one counts.
    - *Marketer risk*: the share of the rows that an adversary expects to get right who takes each row for
      that of one of these people.

    References
    ----------
    Sweeney, k-anonymity, IJUFKS 2002. El Emam and Dankar, Protecting privacy using k-anonymity, JAMIA 2008.
    Dankar and El Emam, A method for evaluating marketer re-identification risk, EDBT/ICDT workshops 2010.
    """
    if least is None and not seen.told.everything:
        return AttackResult()
    classes = _classes(seen)
    if classes.is_empty():
        return AttackResult()
    rows, smallest = int(classes["rows"].sum()), least_of(classes["rows"])
    # No fewer than the rows: where people are fewer, some rows are counterfeits, and nobody can tell which.
    about = classes.select("rows", people=pl.max_horizontal("rows", pl.Series(_people(classes, seen.known))))
    expected = about.select((pl.col("rows") / pl.col("people")).sum()).item()
    figures = LinkageFigures(
        smallest_class=smallest,
        prosecutor_risk=1 / smallest,
        journalist_risk=most_of(1 / about["people"]),
        marketer_risk=expected / rows,
        rows=rows,
    )
    if least is None:
        return AttackResult(figures=figures)
    broken = int(classes.filter(pl.col("rows") < least)["rows"].sum())
    return AttackResult({"": Count(rows, broken, smallest, least)}, figures)


def attack_diversity(seen: AttackInput, least: int | None) -> AttackResult:
    """Judge whether the rows of every class have enough different sensitive values: l.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity, TKDD 2007: distinct l-diversity.
    """
    if least is None and not seen.told.everything:
        return AttackResult()
    classes = _classes(seen)
    fewest = least_of(classes["values"])
    figures = DiversityFigures(fewest_values_of_a_class=fewest)
    if least is None or classes.is_empty():
        return AttackResult(figures=figures)
    broken = int(classes.filter(pl.col("values") < least)["rows"].sum())
    return AttackResult({"": Count(int(classes["rows"].sum()), broken, fewest, least)}, figures)


def _classes(seen: AttackInput) -> pl.DataFrame:
    """A row for each class: `qi_0_low`, `qi_0_high`, … as codes, `qi_0_missing`, …, `rows`, `values`."""
    ends = []
    for column, attribute in seen.schema.attributes():
        for end in ("low", "high"):
            published = column if column in seen.main.columns else f"{column}_{end}"
            ends.append(encode(pl.col(published), attribute).alias(f"{column}_{end}"))
        if (without := f"{column}_missing") in seen.main.columns:
            ends.append(pl.col(without))
    rows = seen.main.select("group_id", *ends)
    names = rows.columns[1:]
    classes = rows.group_by(names, maintain_order=True).agg(rows=pl.len().cast(pl.Int64), group_id="group_id")
    held = (
        classes.with_row_index("class")
        .select("class", pl.col("group_id").list.unique())
        .explode("group_id")
        .join(seen.published.values, on="group_id")
        .group_by("class")
        .agg(values=pl.col(VALUE).n_unique().cast(pl.Int64))
    )
    counted = classes.drop("group_id").with_row_index("class").join(held, on="class", how="left")
    return counted.drop("class").with_columns(pl.col("values").fill_null(0))


def _people(classes: pl.DataFrame, known: pl.DataFrame) -> np.ndarray:
    """int64[C]: the people whose quasi-identifiers lie in each class."""
    names = [column for column in known.columns if column.startswith("qi_")]
    points = known.group_by(names, maintain_order=True).agg(people=pl.len().cast(pl.Int64))
    has_missing = any(column.endswith("_missing") for column in classes.columns)
    if not has_missing and all((classes[f"{name}_low"] == classes[f"{name}_high"]).all() for name in names):
        exact = classes.select(pl.col(f"{name}_low").alias(name) for name in names)
        here = exact.join(points, on=names, how="left", nulls_equal=True, maintain_order="left")["people"]
        return here.fill_null(0).to_numpy()
    people = np.zeros(len(classes))
    for some in points.iter_slices(MOST_POINTS):
        point, box = covering(some.select(names), classes)
        people += np.bincount(box, some["people"].to_numpy()[point], len(classes))
    return people.astype(np.int64)
