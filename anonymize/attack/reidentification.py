"""Re-identification: rows and people with the same quasi-identifiers, and the values of such rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from republish.anonymize.attack.coverage import covering
from republish.anonymize.attack.figures import DiversityFigures, LinkageFigures, SuppressedFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.columns import VALUE, least_of, most_of
from republish.anonymize.formats import CLASS, PIECES
from republish.anonymize.people.codes import code_domain, encode

ANYTHING = "_anything"
"""The ending of columns that say whether a class's cells cover every value of an attribute."""
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
    every = _classes(seen)
    if every.is_empty():
        return AttackResult()
    classes = _telling(every)
    rows, smallest = int(classes["rows"].sum()), least_of(classes["rows"])
    # No fewer than the rows: where people are fewer, some rows are counterfeits, and nobody can tell which.
    about = classes.select("rows", people=pl.max_horizontal("rows", pl.Series(_people(classes, seen))))
    expected = about.select((pl.col("rows") / pl.col("people")).sum()).item()
    figures = LinkageFigures(
        smallest_class=smallest,
        prosecutor_risk=1 / smallest,
        journalist_risk=most_of(1 / about["people"]),
        marketer_risk=expected / rows,
        rows=rows,
    )
    silent = _silent(every, seen)
    if any(every[column].any() for column in every.columns if column.endswith(ANYTHING)):
        figures = SuppressedFigures(
            **vars(figures), **silent._asdict(), smallest_match=_smallest_match(every)
        )
    if least is None:
        return AttackResult(figures=figures)
    broken = int(classes.filter(pl.col("rows") < least)["rows"].sum())
    undecided = silent.undecided(silent.rows_of_anything, least)
    return AttackResult({"": Count(rows + undecided, broken, smallest, least, undecided)}, figures)


def attack_diversity(seen: AttackInput, least: int | None) -> AttackResult:
    """Judge whether the rows of every class have enough different sensitive values: l.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity, TKDD 2007: distinct l-diversity.
    """
    if least is None and not seen.told.everything:
        return AttackResult()
    every = _classes(seen)
    classes, silent = _telling(every), _silent(every, seen)
    fewest = least_of(classes["values"])
    figures = DiversityFigures(fewest_values_of_a_class=fewest)
    if least is None or classes.is_empty():
        return AttackResult(figures=figures)
    broken = int(classes.filter(pl.col("values") < least)["rows"].sum())
    undecided = silent.undecided(silent.values_of_anything, least)
    rows = int(classes["rows"].sum()) + undecided
    return AttackResult({"": Count(rows, broken, fewest, least, undecided)}, figures)


def _classes(seen: AttackInput) -> pl.DataFrame:
    """A row for each class: `qi_0_low`, `qi_0_high`, … as codes, `qi_0_missing`, …, `rows`, `values`.

    In tables of other tools, also `class_id`, and `qi_0_anything`, …: whether a cell covers every value.
    """
    main, ends = seen.main, _ends(seen, seen.main)
    numbered = [pl.col(CLASS)] if CLASS in main.columns else []
    rows = main.select("group_id", *ends, *numbered)
    names = rows.columns[1:]
    classes = rows.group_by(names, maintain_order=True).agg(rows=pl.len().cast(pl.Int64), group_id="group_id")
    if numbered:
        # The row itself says which value goes with its cells.
        held = main.group_by(CLASS).agg(values=pl.col(VALUE).n_unique().cast(pl.Int64))
        classes = classes.drop("group_id").join(held, on=CLASS, maintain_order="left")
        pieces = seen.tables.get(PIECES, main)
        covers = [
            ((pl.col(f"{column}_low") <= low) & (pl.col(f"{column}_high") >= high))
            .all()
            .alias(f"{column}{ANYTHING}")
            for column, attribute in seen.schema.attributes()
            for low, high in [code_domain(attribute)]
        ]
        whole = pieces.select(CLASS, *_ends(seen, pieces)).unique().group_by(CLASS).agg(covers)
        return classes.join(whole, on=CLASS, maintain_order="left")
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


def _ends(seen: AttackInput, table: pl.DataFrame) -> list[pl.Expr]:
    """`qi_0_low`, `qi_0_high`, … as codes, `qi_0_missing`, … of a table."""
    ends = []
    for column, attribute in seen.schema.attributes():
        for end in ("low", "high"):
            published = column if column in table.columns else f"{column}_{end}"
            ends.append(encode(pl.col(published), attribute).alias(f"{column}_{end}"))
        if (without := f"{column}_missing") in table.columns:
            ends.append(pl.col(without))
    return ends


class _Silent(NamedTuple):
    """Rows that other tools suppress altogether, which are of no class for these tools."""

    rows_of_anything: int
    people_of_anything: int
    values_of_anything: int | None

    def undecided(self, found: int | None, least: int) -> int:
        """How many of them are too few, or too much alike, for the people whom no other row covers."""
        return self.rows_of_anything if self.people_of_anything and (found or 0) < least else 0


def _silent(classes: pl.DataFrame, seen: AttackInput) -> _Silent:
    silent = classes.filter(~_tells(classes))
    if silent.is_empty() or len(silent) == len(classes):
        return _Silent(0, 0, None)
    rows = seen.main.join(silent.select(CLASS), on=CLASS, how="semi")
    elsewhere = seen.covered["groups"] > rows["group_id"].n_unique()
    return _Silent(len(rows), int((~elsewhere).sum()), rows[VALUE].n_unique())


def _telling(classes: pl.DataFrame) -> pl.DataFrame:
    """The classes that say something of quasi-identifiers; all of them where none does."""
    telling = classes.filter(_tells(classes))
    return classes if telling.is_empty() else telling


def _tells(classes: pl.DataFrame) -> pl.Expr:
    anything = [pl.col(column) for column in classes.columns if column.endswith(ANYTHING)]
    return ~pl.all_horizontal(anything) if anything else pl.lit(value=True)


def _smallest_match(classes: pl.DataFrame) -> int:
    """The fewest rows that a row can't be told from if what is suppressed matches everything.

    References
    ----------
    Templ, Kowarik and Meindl, Statistical Disclosure Control for Micro-Data Using the R Package sdcMicro,
    Journal of Statistical Software 2015, section 3.
    """
    flags = [column for column in classes.columns if column.endswith(ANYTHING)]
    alike = classes.partition_by(flags, as_dict=True, include_key=False)
    least = []
    for suppressed, some in alike.items():
        matched = np.zeros(len(some), dtype=np.int64)
        for suppressed_there, others in alike.items():
            shown = [
                f"{flag.removesuffix(ANYTHING)}{end}"
                for flag, *either in zip(flags, suppressed, suppressed_there, strict=True)
                if not any(either)
                for end in ("_low", "_high")
            ]
            if shown:
                there = others.group_by(shown).agg(pl.col("rows").sum().alias("there"))
                found = some.select(shown).join(there, on=shown, how="left", maintain_order="left")["there"]
                matched += found.fill_null(0).to_numpy()
            else:
                matched += int(others["rows"].sum())
        least.append(int(matched.min()))
    return min(least)


def _people(classes: pl.DataFrame, seen: AttackInput) -> np.ndarray:
    """int64[C]: the people whose quasi-identifiers lie in each class."""
    known = seen.known
    names = [column for column in known.columns if column.startswith("qi_")]
    points = known.group_by(names, maintain_order=True).agg(people=pl.len().cast(pl.Int64))
    if (pieces := seen.tables.get(PIECES)) is not None:
        boxes = pieces.select(CLASS, *_ends(seen, pieces)).unique()
        number = boxes.select(CLASS).with_columns(people=pl.Series(_inside(points, names, boxes)))
        inside = number.group_by(CLASS).agg(pl.col("people").sum())
        return classes.select(CLASS).join(inside, on=CLASS, maintain_order="left")["people"].to_numpy()
    has_missing = any(column.endswith("_missing") for column in classes.columns)
    if not has_missing and all((classes[f"{name}_low"] == classes[f"{name}_high"]).all() for name in names):
        exact = classes.select(pl.col(f"{name}_low").alias(name) for name in names)
        here = exact.join(points, on=names, how="left", nulls_equal=True, maintain_order="left")["people"]
        return here.fill_null(0).to_numpy()
    return _inside(points, names, classes)


def _inside(points: pl.DataFrame, names: list[str], boxes: pl.DataFrame) -> np.ndarray:
    """int64[B]: the people in each box."""
    people = np.zeros(len(boxes))
    # Points that follow each other are near each other, so that few boxes reach any of them.
    names = sorted(names, key=lambda name: -points[name].n_unique())
    low, high = pl.col(f"{names[0]}_low"), pl.col(f"{names[0]}_high")
    boxes = boxes.with_row_index("box").sort(low)
    for some in points.sort(names).iter_slices(MOST_POINTS):
        first = some[names[0]]
        reach = pl.lit(value=True) if first.null_count() else (low <= first.max()) & (high >= first.min())
        near = boxes.filter(reach)
        point, box = covering(some.select(names), near)
        inside = np.bincount(box, some["people"].to_numpy()[point], len(near))
        people[near["box"].to_numpy()] += inside
    return people.astype(np.int64)
