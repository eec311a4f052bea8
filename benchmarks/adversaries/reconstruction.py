"""What public attacks on de-identified data reconstruct: nearest rows, and CoBP-RA.

An adversary knows some quasi-identifiers of people, and reconstructs the others and the sensitive value from
published rows: the red team exercise of NIST's Collaborative Research Cycle, 2025. *Nearest* takes all from
the nearest row; *CoBP-RA* is the strongest attack of the winners (Golob and others, PoPETs 2027;
`benchmarks/adversaries/cobp.py`). Places within intervals, and who of a group has which value, are drawn for
each release. A fifth of all people is in no release: what is found of these *others* is true of everybody,
and only what is found above that, of people *in* the first release, or in the last of several, is what
publication tells. Columns have the exercise's score of the sensitive value, the share of right guesses, of
which each weighs as much as its value is rare (naming one value always scores 1 / C, C the number of values);
*right*, the plain share of right guesses by CoBP-RA; and the mean score of quasi-identifiers not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from benchmarks.adversaries.cobp import Columns, cobp_ra, most_frequent, of_the_nearest, rarity_weighted
from benchmarks.census import census_contract, census_series
from benchmarks.real_data import (
    adult_contract,
    adult_series,
    data_folder,
    receipts_contract,
    receipts_series,
)
from benchmarks.series import Series, contract_of, pseudonymous, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import IDENTIFIER, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.formats.published import Published, knowledge_table

QUICK = {"people": 400, "releases": 2, "targets": 50, "m": (4,)}
KNOWN = {"census": ["age", "gender"], "Adult": ["age", "race", "sex", "native-country"]}
"""Quasi-identifiers that are known, where not all of them are."""
OTHERS = 5
"""One of so many people is in no release."""
HEADINGS = (
    *("published", "releases", "known", "most frequent", "nearest: in", "others", "CoBP-RA: in", "others"),
    *("right: in", "others", "quasi-identifiers: in", "others"),
)
ITSELF = "the rows themselves"
Snapshots = list[tuple[str, pl.DataFrame]]


def tables(
    people: int = 5_000, releases: int = 8, targets: int = 1_500, m: tuple[int, ...] = (2, 4, 8)
) -> Iterator[Table]:
    """A table for each people: the rows themselves, and principles, after one release and after all."""
    for name, declared, series, some in _peoples(people, releases, m):
        snapshots, person = list(series), declared["identifier"]
        everybody = pl.concat([table.select(person) for _, table in snapshots]).unique(maintain_order=True)
        others = everybody.filter(pl.int_range(pl.len()).shuffle(seed=1) % OTHERS == 0)
        inside, outside = (
            [(date, table.join(others, on=person, how=how)) for date, table in snapshots]
            for how in ("anti", "semi")
        )
        rows: list[list[Any]] = []
        for called, principle in _principles(some):
            contract = contract_of(declared, **principle)
            for number, cells in _attacked(called, (inside, outside), contract, KNOWN.get(name), targets):
                rows += [[called, number, *one] for one in cells]
        sensitive = declared["sensitive"]["name"]
        yield Table(f"{name}, {sensitive}: {_people_in(inside)}", HEADINGS, rows)


def _people_in(snapshots: Snapshots) -> str:
    """How many people the releases have, first and last."""
    return f"{snapshots[0][1].height:,} people in the first release, {snapshots[-1][1].height:,} in the last"


def _principles(m: tuple[int, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """How each is called, and its parameters; those of `ITSELF` are not used."""
    waits: dict[str, Any] = {"on_ineligible": "wait"}
    adds = {"on_ineligible": "counterfeit", "people_per_group": 2}
    yield ITSELF, {"name": "m_invariance", "m": m[-1], **adds}
    for least in m:
        more = waits if least == 2 else adds
        yield f"m_invariance, m = {least}", {"name": "m_invariance", "m": least, **more}
    middle = m[len(m) // 2]
    yield f"e_equivalence, m = {middle}", {"name": "e_equivalence", "m": middle, "e": 3, **adds}


def _peoples(
    people: int, releases: int, m: tuple[int, ...]
) -> Iterator[tuple[str, dict[str, Any], Series, tuple[int, ...]]]:
    """Tables of people with their contracts, and the m that they are released with."""
    yield "census", census_contract(), census_series(2 * people, people, people // 20, releases), m
    if (folder := data_folder()) is not None:
        yield "Adult", adult_contract(folder), adult_series(folder, people, people // 20, releases), m
        yield "receipts", receipts_contract(), list(receipts_series(folder, 2018))[:releases], (3,)


def _attacked(
    called: str,
    snapshots: tuple[Snapshots, Snapshots],
    contract: Contract,
    known: list[str] | None,
    targets: int,
) -> Iterator[tuple[int, list[list[str]]]]:
    """The number of the first and of the last release, and lines of the table after it."""
    inside, outside = snapshots
    names = {attribute.name: column for column, attribute in contract.attributes()}
    chosen = {} if known is None else {", ".join(known): [names[name] for name in known]}
    chosen["all"] = list(names.values())
    tables = [table[contract.sensitive.name].cast(pl.String) for _, table in inside + outside]
    declared = pl.Series(map(str, contract.sensitive.values or ()), dtype=pl.String)
    domain = pl.concat([*tables, declared]).unique().sort()
    published: list[Columns] = []
    for number, (people, rows) in enumerate(_rows(called, inside, contract), start=1):
        published.append(_columns(rows, domain))
        if number in (1, len(inside)):
            every = {name: np.concatenate([one[name] for one in published]) for name in published[0]}
            others = _known(outside[number - 1][1], contract)
            asked = [_columns(_some(table, targets), domain) for table in (people, others)]
            yield number, [[said, *_line(every, asked, given)] for said, given in chosen.items()]


def _rows(
    called: str, snapshots: Snapshots, contract: Contract
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """The truth of the people in each release, and rows of it as an adversary has them."""
    if called == ITSELF:
        for _, table in snapshots:
            yield (people := _known(table, contract)), people
        return
    for number, made in enumerate(released(snapshots, contract), start=1):
        people = knowledge_table(made.people.rename({IDENTIFIER: "person"}), contract)
        yield people.join(made.linkage, on="person", how="semi"), dealt(made.read, number)


def dealt(published: Published, seed: int) -> pl.DataFrame:
    """A row for each published tuple, at a random place in a box of its group: `qi_0`, …, `value`."""
    rng = np.random.default_rng(seed)
    each = published.values.select("group_id", pl.col(VALUE).repeat_by("tuples")).explode(VALUE)
    boxes = published.boxes.group_by("group_id", maintain_order=True).agg(pl.all())
    placed = each.join(boxes, on="group_id", maintain_order="left")
    number = placed.select(pl.col("^qi_0_low$").list.len()).to_series()
    at = pl.Series((rng.random(len(placed)) * number.to_numpy()).astype(np.int64))
    names = [column.removesuffix("_low") for column in boxes.columns if column.endswith("_low")]
    found = {VALUE: placed[VALUE]}
    for name in names:
        low, high = (placed[f"{name}_{end}"].list.get(at).to_numpy() for end in ("low", "high"))
        found[name] = pl.Series(rng.integers(low.astype(np.int64), high.astype(np.int64), endpoint=True))
    return pl.DataFrame(found)


def _known(snapshot: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """The truth of a snapshot: `person`, `value`, `qi_0`, …."""
    return knowledge_table(pseudonymous(snapshot, contract).rename({IDENTIFIER: "person"}), contract)


def _some(people: pl.DataFrame, number: int) -> pl.DataFrame:
    return people.sample(min(number, len(people)), seed=1)


def _columns(table: pl.DataFrame, domain: pl.Series) -> Columns:
    """Whole numbers: codes, and the places of values in the domain."""
    places = domain.to_frame(VALUE).with_row_index("at")
    values = table.select(pl.col(VALUE).cast(pl.String)).join(places, on=VALUE, maintain_order="left")
    codes = {name: table[name].cast(pl.Int64).to_numpy() for name in table.columns if name.startswith("qi_")}
    return {**codes, VALUE: values["at"].cast(pl.Int64).to_numpy()}


def _line(rows: Columns, asked: list[Columns], known: list[str]) -> list[str]:
    """What is reconstructed of people in the release, and of others, under `HEADINGS` from the fourth on."""
    hidden = [name for name in rows if name not in known]
    usual = most_frequent(rows, [VALUE], len(asked[0][VALUE]))
    nearest = [of_the_nearest(rows, targets, known, [VALUE]) for targets in asked]
    by_belief = [cobp_ra(rows, targets, known, hidden) for targets in asked]
    pairs = list(zip(asked, by_belief, strict=True))
    others = [name for name in hidden if name != VALUE]
    score = rarity_weighted
    cells = [score(asked[0][VALUE], usual[VALUE])]
    cells += [score(one[VALUE], found[VALUE]) for one, found in zip(asked, nearest, strict=True)]
    cells += [score(one[VALUE], found[VALUE]) for one, found in pairs]
    cells += [float((one[VALUE] == found[VALUE]).mean()) for one, found in pairs]
    if others:
        cells += [float(np.mean([score(one[name], found[name]) for name in others])) for one, found in pairs]
    return [f"{cell:.1%}" for cell in cells] + ([] if others else ["", ""])


if __name__ == "__main__":
    main(tables)
