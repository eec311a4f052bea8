"""Valid series pass, and every way of breaking one is caught under the right name."""

import hashlib
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from republish.anonymize.attack.input import prepare_tables
from republish.anonymize.attack.intersection import candidates
from republish.anonymize.formats import ANATOMY
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.attacked import ReleaseAttack, attack_tables
from tests import findings as fi
from tests.anonymize.attack.attack_series import (
    Release,
    attack_series,
    attacked_people,
    broken,
    contract,
    publish,
    snapshots,
)
from tests.findings import promise


@pytest.fixture(scope="module")
def declared():
    return contract()


@pytest.fixture(scope="module")
def series(declared):
    return publish(snapshots(count=600, releases=3, churn=0.3), declared)


@pytest.mark.slow("takes more than a second")
def test_a_valid_series_keeps_every_promise_and_with_a_linkage_more_is_looked_at(series, declared):
    found = [attack_series(series, declared, linked=linked) for linked in (True, False)]
    for one in found:
        assert broken(one) == set()
        assert one.figures["smallest_candidates"] >= 3
        assert one.figures["vulnerable"] == 0
        assert one.figures["people"] == 600
    linked, unlinked = (set(one.findings["promise"]) for one in found)
    assert linked - unlinked == {fi.HOSTS, fi.HOST_CANDIDATES, fi.CHANGES}


def test_people_may_be_named_by_a_pseudonym(series, declared):
    named = [
        Release(
            release.snapshot.with_columns(pl.col("patient").str.reverse().alias("person")),
            release.tables,
            release.linkage.with_columns(pl.col("patient").str.reverse().alias("person")),
        )
        for release in series
    ]
    found = attack_series(named, declared)
    assert broken(found) == set()
    patients = set(series[0].snapshot["patient"])
    for table in found.knowledge.tables().values():
        assert all(patients.isdisjoint(column) for column in table.select(pl.col(pl.String)))


def test_people_held_back_on_purpose_are_not_missed(series, declared):
    late = series[0].snapshot.head(2).with_columns(patient=pl.Series(["late1", "late2"]))
    first = Release(pl.concat([series[0].snapshot, late]), series[0].tables, series[0].linkage)
    assert fi.COUNTS in broken(attack_series([first], declared))
    assert broken(attack_series([first], declared, held_back=2)) == set()


# Mutants: a valid series, and one thing changed in its last release.


def with_last(series, tables=None, linkage=None):
    last = series[-1]
    changed = Release(
        last.snapshot, last.tables | (tables or {}), last.linkage if linkage is None else linkage
    )
    return [*series[:-1], changed]


def swap_two_people(series):
    """Two carried people change places between groups of different signatures; all counts are right."""
    last, before = series[-1], series[-2]
    hosted = last.linkage.join(last.snapshot, on="patient").join(before.linkage, on="patient", how="semi")
    groups = last.tables["microdata"].group_by("group_id").agg(pl.col("disease").sort().alias("signature"))
    hosted = hosted.join(groups, on="group_id").sort("patient")
    one = hosted.row(0, named=True)
    other = hosted.filter(
        (pl.col("disease") == one["disease"]) & (pl.col("signature") != one["signature"])
    ).row(0, named=True)
    swap = {one["patient"]: other["group_id"], other["patient"]: one["group_id"]}
    moved = pl.col("patient").replace_strict(swap, default=pl.col("group_id"), return_dtype=pl.Int64)
    linkage = last.linkage.with_columns(moved.alias("group_id"))
    return with_last(series, {"microdata": regeneralized(last, linkage)}, linkage)


def regeneralized(release, linkage):
    """Intervals that cover the people of a changed linkage; values and numbering as they were."""
    hosted = linkage.join(release.snapshot, on="patient")
    names = ["age", "zipcode", "sex"]
    bounds = hosted.group_by("group_id").agg(
        *(pl.col(name).min().alias(f"{name}_low") for name in names),
        *(pl.col(name).max().alias(f"{name}_high") for name in names),
    )
    microdata = release.tables["microdata"]
    return microdata.select("group_id", "disease").join(bounds, on="group_id").select(microdata.columns)


def drop_a_counterfeit(series):
    """A counterfeit disappears from the table, and from R(n)."""
    last = series[-1]
    group, value = a_counterfeit(last)
    microdata = last.tables["microdata"].filter(
        ~((pl.col("group_id") == group) & (pl.col("disease") == value))
    )
    left = last.tables["counterfeits"].with_columns(
        pl.col("count") - (pl.col("group_id") == group).cast(pl.Int64)
    )
    return with_last(series, {"microdata": microdata, "counterfeits": left.filter(pl.col("count") > 0)})


def a_counterfeit(release):
    hosted = release.linkage.join(release.snapshot, on="patient")
    forged = release.tables["microdata"].join(hosted, on=["group_id", "disease"], how="anti")
    return forged.select("group_id", "disease").row(0)


def shrink_an_interval(series):
    """One person falls out of their group's interval by one year."""
    microdata = series[-1].tables["microdata"]
    group = microdata.filter(pl.col("age_low") < pl.col("age_high"))["group_id"][0]
    narrower = pl.col("age_high") - (pl.col("group_id") == group).cast(pl.Int64)
    return with_last(series, {"microdata": microdata.with_columns(narrower.alias("age_high"))})


def publish_a_tuple_too_few(series):
    microdata = series[-1].tables["microdata"]
    return with_last(series, {"microdata": microdata.slice(1)})


def forget_a_counterfeit_in_the_statistics(series):
    counterfeits = series[-1].tables["counterfeits"]
    return with_last(series, {"counterfeits": counterfeits.slice(1)})


def publish_one_value_twice(series):
    """A group's values are not all different any more; somebody else's row pays for it."""
    last = series[-1]
    microdata = last.tables["microdata"].with_row_index("row")
    first = microdata.row(0, named=True)
    double = pl.when(pl.col("row") == 1).then(pl.lit(first["disease"])).otherwise("disease")
    return with_last(series, {"microdata": microdata.with_columns(double.alias("disease")).drop("row")})


def publish_an_identifier(series):
    last = series[-1]
    key = last.linkage.join(last.snapshot, on="patient").select("group_id", "disease", note="patient")
    microdata = last.tables["microdata"].join(
        key, on=["group_id", "disease"], how="left", maintain_order="left"
    )
    return with_last(series, {"microdata": microdata})


def number_groups_as_they_arrived(series):
    """Groups bear the number of their first person in the snapshot."""
    last = series[-1]
    arrival = last.linkage.join(
        last.snapshot.select("patient", pl.int_range(pl.len()).alias("place")), on="patient"
    )
    order = arrival.group_by("group_id").agg(pl.col("place").mean()).sort("place")["group_id"]
    renumbered = pl.col("group_id").replace_strict(order, range(1, len(order) + 1), return_dtype=pl.Int64)
    tables = {name: table.with_columns(renumbered).sort(pl.all()) for name, table in last.tables.items()}
    return with_last(series, tables, last.linkage.with_columns(renumbered))


def leave_rows_in_the_snapshot_s_order(series):
    """Values stand in each group as their people stand in the snapshot."""
    last = series[-1]
    place = last.snapshot.select("patient", "disease", pl.int_range(pl.len()).alias("place"))
    hosted = last.linkage.join(place, on="patient").select("group_id", "disease", "place")
    microdata = last.tables["microdata"].join(hosted, on=["group_id", "disease"], how="left")
    return with_last(series, {"microdata": microdata.sort("group_id", "place").drop("place")})


def put_rows_in_the_order_of_age(series):
    """The oldest first; everybody's age is known."""
    last = series[-1]
    hosted = last.linkage.join(last.snapshot, on="patient").select("group_id", "disease", "age")
    microdata = last.tables["microdata"].join(hosted, on=["group_id", "disease"], how="left")
    microdata = microdata.sort("group_id", "age", descending=[False, True]).drop("age")
    return with_last(series, {"microdata": microdata})


def with_one_entry(column, entry):
    """The last release with another entry in one row of its main table."""

    def mutate(series):
        microdata = series[-1].tables["microdata"].with_row_index("row")
        changed = pl.when(pl.col("row") == 7).then(entry).otherwise(column).alias(column)
        return with_last(series, {"microdata": microdata.with_columns(changed).drop("row")})

    return mutate


leave_an_interval_open = with_one_entry("age_high", pl.lit(None))
publish_an_unknown_label = with_one_entry("sex_low", pl.lit("x"))
publish_an_unknown_value = with_one_entry("disease", pl.lit("disease z"))
publish_no_value = with_one_entry("disease", pl.lit(None))
turn_an_interval_around = with_one_entry("zipcode_low", pl.col("zipcode_high") + 1)
narrow_one_row_of_a_group = with_one_entry("zipcode_high", pl.col("zipcode_high") - 1)


def swap_the_numbers_of_two_groups(series):
    last = series[-1]
    swapped = pl.col("group_id").replace({1: 2, 2: 1})
    tables = {name: table.with_columns(swapped).sort(pl.all()) for name, table in last.tables.items()}
    return with_last(series, tables, last.linkage.with_columns(swapped))


def swap_two_rows(series):
    microdata = series[-1].tables["microdata"]
    return with_last(series, {"microdata": microdata[[1, 0, *range(2, len(microdata))]]})


def md5(text):
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def add_a_column_made_of(function):
    """A column that the format does not have, a function of the row's person."""

    def mutate(series):
        last = series[-1]
        hosted = last.linkage.join(last.snapshot, on="patient")
        extra = hosted.select("group_id", "disease", extra=function)
        microdata = last.tables["microdata"].join(extra, on=["group_id", "disease"], how="left")
        return with_last(series, {"microdata": microdata})

    return mutate


MUTANTS = [
    (swap_two_people, {fi.HOST_CANDIDATES, fi.SIGNATURES}),
    (leave_an_interval_open, {fi.ENTRIES}),
    (publish_an_unknown_label, {fi.ENTRIES}),
    (publish_an_unknown_value, {fi.ENTRIES}),
    (publish_no_value, {fi.ENTRIES}),
    (turn_an_interval_around, {fi.ENTRIES}),
    (narrow_one_row_of_a_group, {fi.INTERVALS}),
    (swap_the_numbers_of_two_groups, {fi.NUMBERING}),
    (swap_two_rows, {fi.ROW_ORDER}),
    (shrink_an_interval, {fi.HOSTS}),
    (publish_a_tuple_too_few, {fi.COUNTS, fi.HOSTS, fi.SHARE}),
    (publish_one_value_twice, {fi.HOSTS, fi.SHARE, fi.SIGNATURES}),
    (publish_an_identifier, {fi.IDENTIFIERS}),
    (number_groups_as_they_arrived, {fi.NUMBERING}),
    (leave_rows_in_the_snapshot_s_order, {fi.ROW_ORDER}),
    (put_rows_in_the_order_of_age, {fi.ROW_ORDER}),
    (add_a_column_made_of(pl.col("zipcode")), {fi.UNREAD}),
    (add_a_column_made_of("DE-" + pl.col("patient")), {fi.UNREAD}),
    (add_a_column_made_of(pl.col("patient").map_elements(md5, pl.String)), {fi.UNREAD}),
    (add_a_column_made_of(pl.lit("v1")), {fi.UNREAD}),
]


OF_TABLES = {fi.ENTRIES, fi.INTERVALS, fi.NUMBERING, fi.ROW_ORDER, fi.IDENTIFIERS, fi.UNREAD}
WHOLE = [(mutate, promises) for mutate, promises in MUTANTS if not promises <= OF_TABLES]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(
    ("mutate", "promises"),
    [*WHOLE, (swap_two_rows, {fi.ROW_ORDER})],
    ids=lambda of: getattr(of, "__name__", ""),
)
def test_a_mutant_is_caught_under_the_right_name(series, declared, mutate, promises):
    """By the whole attack; what tables show by themselves, a part of it finds below."""
    found = attack_series(mutate(series), declared)
    assert promises <= broken(found)
    caught = found.findings.filter(pl.col("promise").is_in(list(promises)))
    assert caught["broken"].min() >= 1


def test_what_tables_show_is_found_without_knowing_whose_groups_they_are(series, declared):
    """Of people in shards, only the whole release can show it, and no shard does."""
    release_format = principle_of(declared).format(declared)

    def judged(release):
        people = attacked_people(release.snapshot, declared)
        seen, _ = prepare_tables(declared, release_format, release.tables, people, None)
        return attack_tables(seen)

    assert set(judged(series[-1])["promise"]) == OF_TABLES
    assert judged(series[-1])["holds"].all()
    for mutate, promises in MUTANTS:
        if promises <= OF_TABLES:
            found = judged(mutate(series)[-1]).filter(pl.col("broken") > 0, ~pl.col("holds"))
            assert promises <= set(found["promise"]), mutate


def test_a_promise_that_one_shard_breaks_is_broken(series, declared):
    shards = [attack_series(one[-1:], declared) for one in (series, publish_one_value_twice(series))]
    whole = ReleaseAttack.of_shards(shards)
    assert broken(whole) == broken(shards[1])
    assert whole.figures["broken_promises"] == len(broken(whole)) < whole.figures["promises"]
    assert not whole.holds


@pytest.fixture(scope="module")
def with_counterfeits(declared):
    """A series in which values go missing, so that many groups need a counterfeit."""
    first, second = snapshots(count=600, releases=2, churn=0.3, seed=5)
    gone = second["disease"].is_in(["disease a", "disease b"])
    return publish([first, second.filter(~gone)], declared)


FORGING_MUTANTS = [
    (drop_a_counterfeit, {fi.SHARE, fi.HOST_CANDIDATES}),
    (forget_a_counterfeit_in_the_statistics, {fi.COUNTS, fi.HOSTS}),
]


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt32, pl.UInt64])
def test_whatever_tells_people_apart_the_same_is_found(with_counterfeits, declared, kind):
    """Numbers do, too; counterfeits have numbers of their own."""
    number = pl.col(declared.identifier).str.slice(1).cast(kind).alias("person")
    numbered = [
        replace(
            one,
            snapshot=one.snapshot.with_columns(number),
            linkage=one.linkage.select(number, "group_id"),
        )
        for one in with_counterfeits
    ]
    series = with_counterfeits, numbered
    named, found = (attack_series(one, declared, everything=True, seconds=0.1) for one in series)
    assert_frame_equal(found.findings, named.findings)
    assert found.figures == named.figures
    assert found.knowledge.covered.schema["person"] == kind


@pytest.mark.parametrize(("mutate", "promises"), FORGING_MUTANTS, ids=lambda of: getattr(of, "__name__", ""))
def test_a_mutant_of_counterfeits_is_caught(with_counterfeits, declared, mutate, promises):
    assert broken(attack_series(with_counterfeits, declared)) == set()
    assert promises <= broken(attack_series(mutate(with_counterfeits), declared))


def test_counterfeits_sorted_last_are_caught(with_counterfeits, declared):
    last = with_counterfeits[-1]
    hosted = last.linkage.join(last.snapshot, on="patient").select(
        "group_id", "disease", real=pl.lit(value=True)
    )
    microdata = last.tables["microdata"].join(hosted, on=["group_id", "disease"], how="left")
    microdata = microdata.sort("group_id", pl.col("real").is_null(), "disease").drop("real")
    changed = with_last(with_counterfeits, {"microdata": microdata})
    assert last.tables["counterfeits"]["count"].sum() > 20
    assert broken(attack_series(changed, declared)) == {fi.COUNTERFEITS, fi.ROW_ORDER}
    assert broken(attack_series(changed, declared, is_own_format=False)) == {fi.COUNTERFEITS}


@pytest.fixture(scope="module")
def with_few_counterfeits(declared):
    """A release in which one value is just too frequent."""
    (snapshot,) = snapshots(count=400, releases=1)
    is_frequent = pl.int_range(pl.len()) < 135
    values = (
        pl.when(is_frequent)
        .then(pl.lit("disease a"))
        .otherwise(pl.col("disease").replace("disease a", "disease b"))
    )
    (release,) = publish([snapshot.with_columns(disease=values)], declared)
    return release


@pytest.mark.parametrize("are_last", [True, False])
def test_a_handful_of_counterfeits_put_last_or_marked_is_caught(with_few_counterfeits, declared, are_last):
    release = with_few_counterfeits
    assert 4 <= release.tables["counterfeits"]["count"].sum() <= 7
    assert broken(attack_series([release], declared)) == set()
    hosted = release.linkage.join(release.snapshot, on="patient").select("group_id", "disease", forged=0)
    microdata = (
        release.tables["microdata"]
        .join(hosted, on=["group_id", "disease"], how="left", maintain_order="left")
        .with_columns(pl.col("forged").fill_null(1))
    )
    if are_last:
        microdata = microdata.sort("group_id", "forged", "disease").drop("forged")
    found = attack_series(with_last([release], {"microdata": microdata}), declared)
    assert (fi.ROW_ORDER if are_last else fi.UNREAD) in broken(found)
    if not are_last:
        # A handful of counterfeits among hundreds of people: a mark is no chance.
        assert fi.COUNTERFEITS in broken(found)


@pytest.mark.slow("takes more than a second")
def test_two_series_begun_independently_give_away_together_what_each_hides(declared):
    tables = list(snapshots(count=2000, releases=2, churn=0.1))
    one = attack_series(publish(tables, declared, series="v1"), declared)
    other = attack_series(publish(tables, declared, series="v2"), declared)
    assert broken(one) == broken(other) == set()
    together = candidates([one.knowledge.hosted, other.knowledge.hosted])
    assert (together["candidates"] == 1).sum() > 100
    covered = candidates([one.knowledge.covered, other.knowledge.covered])
    assert covered["candidates"].min() < 3


def in_one_group(names, values, ages):
    """A release of one group, of people by name."""
    snapshot = pl.DataFrame(
        {"patient": [*names], "age": ages, "zipcode": 1000, "sex": "F", "disease": values},
        schema_overrides={"age": pl.Int64, "zipcode": pl.Int64},
    )
    microdata = snapshot.select(
        pl.lit(1, pl.Int64).alias("group_id"),
        pl.col("age").min().alias("age_low"),
        pl.col("age").max().alias("age_high"),
        *(pl.col(name).alias(f"{name}_{end}") for name in ("zipcode", "sex") for end in ("low", "high")),
        "disease",
    )
    none = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    linkage = snapshot.select("patient", pl.lit(1, pl.Int64).alias("group_id"))
    return Release(snapshot, {"microdata": microdata.sort(pl.all()), "counterfeits": none}, linkage)


@pytest.mark.parametrize("linked", [True, False])
def test_a_signature_that_grows_during_a_stay_is_no_m_invariance_though_no_candidate_is_lost(linked):
    small, large = ["disease a", "disease b"], ["disease a", "disease b", "disease c"]
    releases = [in_one_group("pq", small, [20, 30]), in_one_group("pqr", large, [20, 30, 25])]
    promises = [promise(candidates=2, largest_share=1 / 2, signatures="unique")] * 2
    found = attack_series(releases, contract(m=2), promises=promises, linked=linked)
    assert broken(found) == {fi.SIGNATURES}
    assert found.findings.filter(promise=fi.SIGNATURES)["broken"].item() == 2


@pytest.mark.parametrize(("signatures", "holds"), [("unique", False), ("even", True), (None, True)])
def test_a_repeated_value_breaks_what_m_uniqueness_promises_and_nothing_else(signatures, holds):
    release = in_one_group("pqrs", ["disease a", "disease b"] * 2, [20, 21, 22, 23])
    promised = promise(candidates=2, largest_share=1 / 2, signatures=signatures)
    found = attack_series([release], contract(m=2), promises=[promised])
    assert broken(found) == (set() if holds else {fi.VALUES})


def test_values_of_unequal_frequency_break_what_merged_groups_promise():
    release = in_one_group(
        "pqrst", ["disease a", "disease b", "disease a", "disease b", "disease c"], range(5)
    )
    promised = promise(candidates=3, largest_share=1 / 2, signatures="even")
    found = attack_series([release], contract(m=3), promises=[promised])
    assert broken(found) == {fi.VALUES}


def test_a_person_whose_value_changed_is_another_member_and_equal_to_nobody_by_the_old_value():
    first = in_one_group("pq", ["disease a", "disease b"], [20, 30])
    later = in_one_group("pq", ["disease c", "disease d"], [20, 30])
    found = attack_series([first, later], contract(m=2), everything=True)
    assert found.knowledge.parts["members"]["person"].n_unique() == 4


def waiting(release, value):
    """The same release of a snapshot that has one more person, whom the release covers."""
    late = release.snapshot.head(1).with_columns(
        patient=pl.lit("late"), age=pl.lit(25, pl.Int64), disease=pl.lit(value)
    )
    return Release(pl.concat([release.snapshot, late]), release.tables, release.linkage)


def undecided(releases, held_back):
    """How many people of the last release have too few candidates: for certain, and perhaps by chance."""
    found = attack_series(releases, contract(m=2), linked=False, held_back=held_back)
    (row,) = (row for row in found.findings.rows(named=True) if row["promise"] == fi.CANDIDATES)
    return row["broken"], row["undecided"]


def test_people_held_back_and_covered_by_chance_are_undecided_without_a_linkage():
    early = waiting(in_one_group("pq", ["disease a", "disease b"], [20, 30]), "disease a")
    later = in_one_group(["late", "o"], ["disease a", "disease d"], [25, 25])
    assert undecided([early, later], [1, 0]) == (0, 1)
    assert undecided([early, later], [0, 0]) == (1, 0)


def test_a_person_held_back_whose_value_no_group_around_them_holds_excuses_nobody():
    first = in_one_group(["p", "q"], ["disease a", "disease b"], [20, 30])
    other = waiting(in_one_group(["p", "r"], ["disease a", "disease d"], [20, 30]), "disease c")
    assert undecided([first, other], [0, 1]) == (1, 0)


def test_a_person_who_waits_again_and_again_excuses_one_other():
    """Of two people and of the one who waits, one value is left: two of the three can't have been waiting."""
    alike = [
        waiting(
            in_one_group(["x", "y", one, two], [f"disease {n}" for n in f"aa{others}"], [20, 30, 20, 30]),
            "disease a",
        )
        for one, two, others in (("p", "q", "bc"), ("r", "s", "de"), ("t", "u", "fg"))
    ]
    assert undecided(alike, [1, 1, 1]) == (2, 1)


def test_of_people_who_wait_one_after_the_other_each_excuses_one():
    early = in_one_group(["p", "q"], ["disease a", "disease b"], [20, 30])
    then = in_one_group(["p", "q", "late 1"], ["disease a", "disease b", "disease a"], [20, 30, 25])
    last = in_one_group(["late 1", "late 2", "r"], ["disease a", "disease a", "disease d"], [25, 25, 25])
    waits = [
        waiting(one, "disease a").snapshot.with_columns(pl.col("patient").replace("late", f"late {number}"))
        for number, one in enumerate((early, then), start=1)
    ]
    first, second = (
        Release(snapshot, one.tables, one.linkage) for snapshot, one in zip(waits, (early, then), strict=True)
    )
    assert undecided([first, second, last], [1, 1, 0]) == (0, 2)


def test_a_surplus_row_of_quasi_identifiers_is_miscounted():
    declared = contract(m=2)
    release = in_one_group("pq", ["disease a", "disease b"], [20, 30])
    anatomy = {
        "quasi_identifiers": release.snapshot.select(
            pl.lit(1, pl.Int64).alias("group_id"), "age", "zipcode", "sex"
        ),
        "sensitive": release.snapshot.select(
            pl.lit(1, pl.Int64).alias("group_id"), "disease", pl.lit(1, pl.Int64).alias("count")
        ),
        "counterfeits": release.tables["counterfeits"],
    }
    surplus = pl.concat([anatomy["quasi_identifiers"], anatomy["quasi_identifiers"].tail(1)])
    for rows, promises in ((anatomy["quasi_identifiers"], set()), (surplus, {fi.COUNTS})):
        one = Release(release.snapshot, anatomy | {"quasi_identifiers": rows}, release.linkage)
        found = attack_series([one], declared, release_format=ANATOMY, linked=False)
        assert broken(found) == promises


def test_a_changed_value_that_keeps_one_common_candidate_is_caught(declared):
    (snapshot,) = snapshots(count=60, releases=1)
    (release,) = publish([snapshot], declared)
    shifted = {f"disease {a}": f"disease {b}" for a, b in zip("abcdefgh", "bcdefgha", strict=True)}
    later = Release(
        snapshot.with_columns(pl.col("disease").replace(shifted)),
        {"microdata": release.tables["microdata"].with_columns(pl.col("disease").replace(shifted))}
        | {"counterfeits": release.tables["counterfeits"]},
        release.linkage,
    )
    assert fi.CHANGES in broken(attack_series([release, later], declared))
