"""Matching and exact risk by component, against every surjection of tiny series."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.exact_risk import exact_risks, risk_figures
from republish.anonymize.attack.figures import RiskFigures
from republish.anonymize.attack.matching import covering_groups, match
from republish.anonymize.formats.published import Published
from tests.papers.disclosure_risk import disclosure_risk
from tests.papers.every_key import reconstructions
from tests.papers.surjections import posterior


def published(groups, counterfeits=None):
    """Groups given as `{group: (low, high, "value value …")}`."""
    boxes = [(group, low, high) for group, (low, high, _) in groups.items()]
    values = [(group, value) for group, (_, _, held) in groups.items() for value in held.split()]
    frame = pl.DataFrame(values, schema={"group_id": pl.Int64, "value": pl.String}, orient="row")
    return Published(
        pl.DataFrame(boxes, schema=["group_id", "age_low", "age_high"], orient="row"),
        frame.group_by("group_id", "value").agg(pl.len().cast(pl.Int64).alias("tuples")),
        pl.DataFrame(
            list((counterfeits or {}).items()), schema={"group_id": pl.Int64, "count": pl.Int64}, orient="row"
        ),
    )


def people(*releases):
    """`{person: (value, age)}` of each release."""
    rows = [
        (number, name, value, age)
        for number, table in enumerate(releases, start=1)
        for name, (value, age) in table.items()
    ]
    return pl.DataFrame(rows, schema=["release", "person", "value", "age"], orient="row")


def covering(everybody, releases):
    return [
        covering_groups(everybody.filter(release=number).drop("release"), one)
        for number, one in enumerate(releases, start=1)
    ]


# u and v must be b and c between them, so that t is a: no two groups of anybody have fewer than two values in
# common, and no candidate set is smaller than two.
SHARED_OUT = (
    people(
        {"t": ("a", 1), "u": ("b", 2), "v": ("c", 3)},
        {"t": ("a", 1), "w": ("b", 4), "z": ("d", 5), "u": ("b", 12), "x": ("c", 13)}
        | {"v": ("c", 23), "y": ("b", 24)},
    ),
    [
        published({1: (1, 9, "a b c")}),
        published({1: (1, 9, "a b d"), 2: (10, 19, "b c"), 3: (20, 29, "b c")}),
    ],
)


def test_a_value_that_others_share_out_is_nobody_elses():
    everybody, releases = SHARED_OUT
    left = dict(
        match(covering(everybody, releases), releases).candidates.select("person", "candidates").rows()
    )
    assert left == {"t": 1, "u": 2, "v": 2, "w": 2, "x": 2, "y": 2, "z": 2}


def test_and_the_exact_risk_of_its_component_is_one():
    everybody, releases = SHARED_OUT
    risks = exact_risks(covering(everybody, releases), releases, invariant=False)
    assert {person: risk for person, risk in risks.select("person", "risk").rows() if risk == 1} == {"t": 1}
    assert risk_figures(risks) == RiskFigures(tuples=7, decided=7, largest=1.0, certain=1)
    assert disclosure_risk(everybody, releases, invariant=False)["t", "a"] == 1


def test_a_counterfeit_may_have_the_value_instead():
    everybody, releases = SHARED_OUT
    # With counterfeits in place of x and y, u and v still share out b and c; one more in t's group frees d.
    fewer = everybody.filter(~pl.col("person").is_in(["x", "y"]))
    forged = [
        releases[0],
        published({1: (1, 9, "a b d"), 2: (10, 19, "b c"), 3: (20, 29, "b c")}, {2: 1, 3: 1}),
    ]
    left = match(covering(fewer, forged), forged).candidates
    assert left.filter(person="t")["candidates"].item() == 1
    wider = [published({1: (1, 9, "a b c d")}, {1: 1}), forged[1]]
    left = match(covering(fewer, wider), wider).candidates
    assert left.filter(person="t")["candidates"].item() == 2


def random_series(rng, releases=3, most=7):
    """People of ages 0 to 9 in groups of any values, over some releases; intervals may overlap."""
    names = [f"p{n}" for n in range(most)]
    value = {name: str(rng.choice(list("abcd"))) for name in names}
    age = {name: int(rng.integers(0, 10)) for name in names}
    tables, published_tables = [], []
    for _ in range(releases):
        present = sorted(rng.permutation(names)[: rng.integers(2, most + 1)], key=age.get)
        groups, forged = {}, {}
        for number, group in enumerate(np.array_split(present, rng.integers(1, 3)), start=1):
            if len(group) == 0:
                continue
            held = [value[name] for name in group]
            if rng.random() < 0.3:
                held.append(str(rng.choice(list("abcd"))))
                forged[number] = 1
            ages = [age[name] for name in group]
            groups[number] = (min(ages) - int(rng.integers(0, 2)), max(ages) + 1, " ".join(held))
        tables.append({name: (value[name], age[name]) for name in present})
        published_tables.append(published(groups, forged))
    return people(*tables), published_tables


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_nothing_possible_is_struck_off(seed):
    everybody, releases = random_series(np.random.default_rng(seed))
    left = match(covering(everybody, releases), releases).left
    possible = posterior(reconstructions(everybody, releases, invariant=False))
    rows = [(*row, candidate) for row, values in possible.items() for candidate in values]
    assert set(rows) <= set(left.rows())


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_in_a_single_release_all_that_is_impossible_is_struck_off(seed):
    everybody, releases = random_series(np.random.default_rng(seed), releases=1)
    left = match(covering(everybody, releases), releases).left
    possible = posterior(reconstructions(everybody, releases, invariant=False))
    assert set(left.rows()) == {(*row, candidate) for row, values in possible.items() for candidate in values}


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_risk_by_component_is_the_risk(seed):
    everybody, releases = random_series(np.random.default_rng(seed), releases=2)
    found = exact_risks(covering(everybody, releases), releases, invariant=False, steps=10**7)
    exact = disclosure_risk(everybody, releases, invariant=False)
    assert {(person, value): risk for person, value, _, risk in found.rows()} == {
        row: float(risk) for row, risk in exact.items()
    }


def test_components_are_counted_apart_and_too_large_ones_left_undecided():
    groups = {number: (10 * number, 10 * number + 9, "a b c") for number in range(40)}
    table = {f"p{n}{v}": (v, 10 * n + place) for n in range(40) for place, v in enumerate("abc")}
    everybody, releases = people(table, table), [published(groups)] * 2
    one = exact_risks(covering(everybody, releases), releases, invariant=False)
    assert one["component"].n_unique() == 40
    assert set(one["risk"]) == {1 / 3}
    short = exact_risks(covering(everybody, releases), releases, invariant=False, steps=500)
    assert 0 < risk_figures(short).decided < 120
    again = exact_risks(covering(everybody, releases), releases, invariant=False, steps=500)
    assert short.equals(again)


RENAMED = dict(zip("abcd", "dbac", strict=True))
JOINED = dict(zip("abcd", "xxyz", strict=True))


def renamed(series, names):
    """The same series with other values; those that have one name are one value."""
    everybody, releases = series
    held = [
        one.values.with_columns(pl.col("value").replace(names))
        .group_by("group_id", "value", maintain_order=True)
        .agg(pl.col("tuples").sum())
        for one in releases
    ]
    renamed = [replace(one, values=values) for one, values in zip(releases, held, strict=True)]
    return everybody.with_columns(pl.col("value").replace(names)), renamed


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("names", [RENAMED, JOINED])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_what_was_counted_of_other_values_changes_no_risk(seed, names):
    counted = {}
    for series in (
        random_series(np.random.default_rng(seed)),
        random_series(np.random.default_rng(seed + 1)),
    ):
        for everybody, releases in (series, renamed(series, names)):
            seen = covering(everybody, releases), releases
            for steps in (30, 10**6):
                fresh = exact_risks(*seen, invariant=False, steps=steps)
                assert exact_risks(*seen, invariant=False, steps=steps, counted=counted).equals(fresh)


def test_components_that_differ_in_the_names_of_values_are_counted_once():
    counted, series = {}, SHARED_OUT
    exact_risks(covering(*series), series[1], invariant=False, counted=counted)
    before = dict(counted)
    series = renamed(SHARED_OUT, RENAMED)
    exact_risks(covering(*series), series[1], invariant=False, counted=counted)
    assert len(before) > 0
    assert counted == before
    series = renamed(SHARED_OUT, JOINED)
    exact_risks(covering(*series), series[1], invariant=False, counted=counted)
    assert counted != before


def test_who_knows_the_hosting_groups_is_left_with_no_more():
    everybody, releases = SHARED_OUT
    everybody = everybody.with_columns(
        pl.when(pl.col("person").is_in([*"wz"])).then(15).otherwise("age").alias("age")
    )
    overlapping = [releases[0], published({1: (1, 29, "a b d"), 2: (10, 29, "b c"), 3: (10, 29, "b c")})]
    hosts = [
        pl.DataFrame({"person": [*"tuv"], "group_id": [1, 1, 1]}),
        pl.DataFrame({"person": [*"twzuxvy"], "group_id": [1, 1, 1, 2, 2, 3, 3]}),
    ]
    known = [
        everybody.filter(release=number).join(host, on="person").select("person", "value", "group_id")
        for number, host in enumerate(hosts, start=1)
    ]
    assert match(known, overlapping, hosts).candidates.filter(person="t")["candidates"].item() == 1
    covered = covering(everybody, overlapping)
    by_boxes = match(covered, overlapping).candidates.filter(person="t")["candidates"].item()
    assert (
        by_boxes == match(covered, overlapping, hosts).candidates.filter(person="t")["candidates"].item() > 1
    )


def test_releases_with_too_many_choices_are_said_to_be_left_out():
    everybody, releases = SHARED_OUT
    found = match(covering(everybody, releases), releases, edges=8)
    assert found.left_out == (1, 2)
    assert found.candidates.filter(person="t")["candidates"].item() == 2


def test_tables_these_people_do_not_fit_are_refused():
    everybody = people({"t": ("a", 1), "u": ("b", 2)})
    for groups, forged in (
        ({1: (1, 9, "a c")}, {}),
        ({1: (1, 9, "a b b")}, {}),
        ({1: (1, 9, "a b")}, {1: 1}),
    ):
        releases = [published(groups, forged)]
        with pytest.raises(ValueError, match="cannot have been published"):
            match(covering(everybody, releases), releases)


def test_covering_is_inside_the_intervals_on_every_attribute():
    boxes = pl.DataFrame(
        {"group_id": [1, 2], "age_low": [0, 5], "age_high": [5, 9], "zip_low": [0, 0], "zip_high": [3, 9]}
    )
    one = Published(boxes, published({1: (0, 0, "a")}).values, published({}).counterfeits)
    here = pl.DataFrame({"person": [*"tuv"], "value": [*"abc"], "age": [5, 5, 4], "zip": [3, 4, 4]})
    assert set(covering_groups(here, one).select("person", "group_id").rows()) == {
        ("t", 1),
        ("t", 2),
        ("u", 2),
    }
