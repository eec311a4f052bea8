"""Tiny divided series under every attack, beside all worlds that they could have been published of."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from republish.anonymize.errors import NotEligible
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.principles import principle_of
from republish.orchestration.series.shards import shard_numbers
from republish.orchestration.storage.manifest import verify_series
from tests.anonymize.attack.attack_series import (
    Release,
    attack_series,
    attacked_people,
    broken,
    contract,
    publish,
    snapshots,
)
from tests.hospital import RELEASES, audited, make
from tests.orchestration.chain.test_shards import PRINCIPLES
from tests.papers.disclosure_risk import disclosure_risk

pytestmark = pytest.mark.slow("starts processes")

VALUES = [f"disease {letter}" for letter in "abcd"]
SERIES = 3
ALL_PRINCIPLES = {
    **PRINCIPLES,
    "global_guarantee": PRINCIPLES["global_guarantee"] | {"on_ineligible": "wait"},
    "streamliner": {"name": "streamliner", "l": 2, "then": "m_invariance", "on_ineligible": "wait"},
}
WITHOUT_LINKAGE = ("generalization", "e_equivalence")
"""One of each format is attacked without the private folder, too."""
FORMATS = {"generalization": {}, "anatomy": {"format": "anatomy"}}


def tiny(seed):
    """Three releases: some people leave and come back; in half of the series somebody's value changes."""
    rng = np.random.default_rng(seed)
    first, second = snapshots(seed, int(rng.integers(5, 8)), 2, rng.uniform(0.2, 0.5), VALUES)
    gone = first.join(second, on="patient", how="anti")
    last = pl.concat([second.head(-1), gone]).to_dict(as_series=False)
    if seed % 2:
        changed = int(rng.integers(len(last["disease"])))
        last["disease"][changed] = VALUES[(VALUES.index(last["disease"][changed]) + 1) % len(VALUES)]
    return [first, second, pl.DataFrame(last, schema=first.schema)]


def published_in_shards(tables, declared, shards):
    """The releases of a series: each shard is released by itself, and all groups have one numbering."""
    parts = [divided(table, b"for ever", shards) for table in tables]
    made = [publish([part[at] for part in parts], declared, key=b"shard %d" % at) for at in range(shards)]
    return [together(table, some) for table, some in zip(tables, zip(*made, strict=True), strict=True)]


def divided(table, key, shards):
    numbers = shard_numbers(table["patient"], key, shards)
    return [table.filter(numbers == at) for at in range(shards)]


def together(snapshot, parts):
    above, tables, linkages = 0, [], []
    for part in parts:
        moved = pl.col("group_id") + above
        tables.append({name: table.with_columns(moved) for name, table in part.tables.items()})
        linkages.append(part.linkage.with_columns(moved))
        main = next(iter(part.tables.values()))
        above += int(main["group_id"].max() or 0)
    return Release(
        snapshot, {name: pl.concat([one[name] for one in tables]) for name in tables[0]}, pl.concat(linkages)
    )


@pytest.mark.parametrize("release_format", FORMATS)
@pytest.mark.parametrize("shards", [2, 3])
def test_lemma_3_in_no_world_is_the_risk_of_a_divided_series_above_1_over_m(release_format, shards):
    """By enumeration of all worlds without the linkage, and by the attacks with it and without it."""
    risks = []
    for seed in range(SERIES):
        declared, tables = contract(m=2, values=VALUES, **FORMATS[release_format]), tiny(seed)
        try:
            releases = published_in_shards(tables, declared, shards)
        except NotEligible:
            continue
        for linked in (True, False):
            assert not broken(attack_series(releases, declared, linked=linked, is_own_format=False))
        form = principle_of(declared).format(declared)
        read = [form.read(form.internal(one.tables, declared), declared) for one in releases]
        people = pl.concat(
            knowledge_table(attacked_people(table, declared), declared).with_columns(
                release=pl.lit(n, pl.Int64)
            )
            for n, table in enumerate(tables, start=1)
        )
        risks.append(max(disclosure_risk(people, read, invariant=True).values()))
    assert len(risks) >= SERIES / 2
    assert max(risks) == Fraction(1, 2)  # and the bound is met: it is a bound on something


@pytest.mark.parametrize(
    ("principle", "shards"), [(name, 2 + number % 2) for number, name in enumerate(ALL_PRINCIPLES)]
)
def test_a_tiny_divided_series_withstands_every_attack_of_the_audit(hospital, tmp_path, principle, shards):
    """Fewer people than the attack on all assignments takes, some of whom come back with another value."""
    whole = [hospital.snapshot(release).head(60) for release in RELEASES]
    gone = whole[0].head(6)
    back = gone.with_columns(disease=pl.col("disease").shift(1, fill_value="flu"))
    stays = whole[1].filter(~pl.col("patient_id").is_in(gone["patient_id"].implode()))
    last = whole[2].filter(~pl.col("patient_id").is_in(gone["patient_id"].implode()))
    for release, table in zip(RELEASES, (whole[0], stays, pl.concat([last, back])), strict=True):
        hospital.deliver(release, table)
    semantics = {"semantics": "transient"} if principle == "global_guarantee" else {}
    hospital.under(ALL_PRINCIPLES[principle], shards=shards, sensitive=semantics)
    series = make(hospital.series(tmp_path / "home"), *RELEASES)
    assert [one["n"] for one in verify_series(series.published_folder)] == [1, 2, 3]
    for private in (True, False) if principle in WITHOUT_LINKAGE else (True,):
        code, promises = audited(hospital, series, tmp_path / f"report {private}", private=private)
        assert code == 0
        assert all(one["holds"] for one in promises.values())
        assert f"in which of {shards} shards" in (tmp_path / f"report {private}/audit.json").read_text()
        assert ("shards" in promises) is private
