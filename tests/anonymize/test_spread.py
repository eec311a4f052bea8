"""Sensitive numbers in bins, and candidates that are far apart: declared, planned, published and attacked."""

import itertools

import numpy as np
import polars as pl
import pytest

from benchmarks.adversaries.every_key import reconstructions
from benchmarks.series import contract_of, released
from republish.anonymize.attack.risk import posterior
from republish.anonymize.columns import VALUE
from republish.anonymize.contract.changes import column_changes, declared_columns
from republish.anonymize.contract.combined import values_of
from republish.anonymize.contract.sensitive import Sensitive
from republish.anonymize.errors import ContractError, NotEligible, ValueChangeRefused
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.m_invariance import release as module
from republish.anonymize.m_invariance.combinations import Combinations, combinations_of
from republish.anonymize.m_invariance.parameters import parameter_changes
from republish.anonymize.m_invariance.spread import near_bins
from republish.anonymize.promise import Candidates, Promise, Spread
from tests import findings as fi
from tests.attacks import attack_releases
from tests.profiles import is_thorough

EDGES = [0, 10, 20, 40, 80, 100]
WAGE = {"name": "wage", "kind": "number", "bins": EDGES}
JOB = {"name": "job"}
SHARE, RATIO = {"wage": 0.1}, {"wage": {"ratio": 2}}
DECLARED = {
    "product": "staff",
    "series": "v1",
    "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
    "identifier": "person",
    "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
    "sensitive": WAGE,
    "principle": {"name": "m_invariance", "m": 2, "on_value_change": "refuse", "on_ineligible": "defer"},
}


def contract(**changes):
    company = {"people_per_group": 2} if isinstance(changes.get("sensitive"), list) else {}
    principle = DECLARED["principle"] | company | changes.pop("principle", {})
    return contract_of({**DECLARED, **changes, "principle": principle})


def staff(count, releases, seed=1):
    """Snapshots in which a quarter of the people is replaced each time; the job goes with the wage's bin."""
    rng = np.random.default_rng(seed)
    everybody = count + (releases - 1) * (count // 4)
    wage = rng.choice(5, everybody, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    job = np.where(rng.random(everybody) < 0.5, wage, rng.integers(0, 5, everybody))
    names = Sensitive.model_validate(WAGE).values
    people = pl.DataFrame(
        {
            "person": [f"p{n}" for n in range(everybody)],
            "age": rng.integers(0, 100, everybody),
            "wage": np.array(names)[wage],
            "job": [f"j{n}" for n in job],
        }
    )
    for n in range(releases):
        first = n * (count // 4)
        yield f"2024-0{n + 1}-01", people[first : first + count]


def attacked(made, **options):
    found = list(attack_releases([(one.contract, one.people, one.candidate) for one in made], **options))
    return found, {row for one in found for row in one.findings.filter(~pl.col("holds"))["promise"]}


def ends(bin_name):
    return [float(number) for number in bin_name.split(" to under ")]


def is_far(names, spread):
    """Whether names of bins are as far apart as promised, by what they say."""
    (least,) = spread.values()
    upper, lower = min(ends(name)[1] for name in names), max(ends(name)[0] for name in names)
    if isinstance(least, dict):
        return lower >= least["ratio"] * upper
    return lower - upper >= least * (EDGES[-1] - EDGES[0]) - 1e-9


# ---- what is declared


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"sensitive": {"name": "wage", "kind": "number"}}, "sensitive", "needs bins"),
        ({"sensitive": {"name": "wage", "bins": EDGES}}, "sensitive.bins", "write kind: number beside it"),
        ({"sensitive": WAGE | {"bins": [0, 1]}}, "sensitive.bins", "three edges at least"),
        ({"sensitive": WAGE | {"bins": [0, 2, 2]}}, "sensitive.bins", "2 follows 2"),
        ({"sensitive": WAGE | {"bins": [0, 1, ".inf"]}}, "sensitive.bins[2]", "must be a number"),
        ({"sensitive": WAGE | {"values": ["a", "b"]}}, "sensitive.values", "follow from bins"),
        ({"sensitive": WAGE | {"renamed": {"0 to under 10": "a"}}}, "sensitive", "leave them out"),
        ({"principle": {"m": 6}}, "principle.m", "lists 5"),
        ({"principle": {"spread": {"wage": 1.5}}}, "principle.spread", "neither a share between 0 and 1"),
        ({"principle": {"spread": {"wage": {"ratio": 1}}}}, "principle.spread", "{ratio: …} above 1"),
        ({"principle": {"spread": {"wages": 0.1}}}, "principle.spread.wages", "is no sensitive column"),
        ({"sensitive": JOB, "principle": {"spread": {"job": 0.1}}}, "principle.spread.job", "is for numbers"),
        ({"principle": {"spread": {"wage": 0.75}}}, "principle.spread.wage", "no candidates would be that"),
        (
            {"sensitive": WAGE | {"bins": [-1, 0, 5, 9]}, "principle": {"spread": {"wage": {"ratio": 2}}}},
            "principle.spread.wage",
            "of which none is below 0",
        ),
        (
            {"principle": {"spread": SHARE, "on_value_change": "separate"}},
            "principle.on_value_change",
            "must be hold_back or refuse with a spread",
        ),
        (
            {"principle": {"spread": SHARE, "adversary": "knows_algorithm", "on_ineligible": "refuse"}},
            "principle.adversary",
            "is refused with a spread",
        ),
    ],
)
def test_what_is_wrong_with_bins_and_spread_is_said_where_it_is(changes, key, words):
    with pytest.raises(ContractError) as refused:
        contract(**changes)
    assert words in dict(refused.value.faults)[key]


def test_bins_are_read_and_written_as_they_are_declared():
    declared = contract(principle={"spread": RATIO})
    written = declared.model_dump(mode="json")
    assert written["sensitive"]["bins"] == EDGES
    assert written["principle"]["spread"] == RATIO
    assert contract(sensitive=written["sensitive"], principle=written["principle"]) == declared
    assert "bins" not in contract(sensitive=JOB).model_dump(mode="json")["sensitive"]


def test_other_bins_or_another_spread_take_a_new_series():
    wider = contract(sensitive=WAGE | {"bins": [*EDGES, 200]})
    assert [
        (one.name, one.says, one.verdict) for one in column_changes(declared_columns(contract()), wider)
    ] == [("sensitive.bins", "other bins", "new series")]
    assert column_changes(declared_columns(wider), wider) == []
    before, now = (contract(principle={"spread": spread}).principle for spread in (SHARE, RATIO))
    assert [(one.name, one.says, one.verdict) for one in parameter_changes(before, now)] == [
        ("spread", "{wage: 0.1} -> {wage: {ratio: 2}}", "new series")
    ]


def test_runs_of_bins_are_all_those_whose_ends_are_too_close():
    rng = np.random.default_rng(3)
    for _ in range(200):
        edges = np.cumsum(rng.integers(1, 9, rng.integers(3, 9))).tolist()
        least = float(rng.uniform(0.05, 0.6)) if rng.random() < 0.5 else {"ratio": float(rng.uniform(1.1, 4))}
        names = [f"{low} to under {high}" for low, high in itertools.pairwise(edges)]

        def close(some, names=names, edges=edges, least=least):
            upper, lower = min(ends(names[b])[1] for b in some), max(ends(names[b])[0] for b in some)
            if isinstance(least, dict):
                return lower < least["ratio"] * upper
            return lower - upper < least * (edges[-1] - edges[0])

        runs = [set(run) for run in near_bins(edges, least)]
        for some in itertools.chain.from_iterable(
            itertools.combinations(range(len(names)), size) for size in range(1, len(names) + 1)
        ):
            assert close(some) == any(set(some) <= run for run in runs)


# ---- what is planned


def test_one_column_leaves_nobody_over_if_neither_a_value_nor_a_run_of_bins_is_too_frequent():
    rng, eligible = np.random.default_rng(1), 0
    for _ in range(300):
        m, bins = int(rng.integers(2, 5)), int(rng.integers(4, 9))
        near = np.zeros((bins - 1, bins), bool)
        width = int(rng.integers(2, bins))
        for first in range(bins - width + 1):
            near[first, first : first + width] = True
        combinations = Combinations(np.arange(bins)[:, None], bins, near[: bins - width + 1])
        people = rng.integers(0, 12, bins)
        if not combinations.are_eligible(people, m):
            continue
        eligible += 1
        while people.any():
            step = combinations.next_step(people, m)
            assert step is not None, "somebody is left over"
            assert len(step.signature) >= m
            has = combinations.with_limit(step.signature).sum(axis=0)
            assert (has <= combinations.most(len(step.signature))).all()
            assert step.signature.max() - step.signature.min() >= width
            people[step.signature] -= step.groups
            assert people.min() >= 0
            assert combinations.are_eligible(people, m)
    assert eligible > 50


# ---- what is published, and its attack


@pytest.mark.parametrize(
    ("sensitive", "spread", "published"),
    [
        (*what, published)
        for what in ((WAGE, SHARE), (WAGE, RATIO), ([WAGE, JOB], SHARE), ([JOB, WAGE], RATIO))
        for published in ("generalization", "anatomy")
    ],
)
def test_candidates_of_everybody_stay_far_apart_over_all_releases(sensitive, spread, published):
    declared = contract(sensitive=sensitive, principle={"spread": spread, "format": published})
    made = list(released(staff(240, 4), declared))
    found, broken = attacked(made)
    assert broken == set()
    assert attacked(made, linked=False)[1] == set()
    left = {}
    position = [one.name for one in declared.sensitive.columns].index("wage")
    for one in made:
        held = one.read.values.with_columns(values_of(one.read.values[VALUE], declared.sensitive)[position])
        values = dict(held.group_by("group_id").agg(pl.col(VALUE).unique()).iter_rows())
        for person, group in one.linkage.select("person", "group_id").iter_rows():
            left[person] = left.get(person, set(values[group])) & set(values[group])
    assert all(is_far(names, spread) for names in left.values())
    assert len(left) > 300
    row = found[-1].findings.filter(promise=fi.HOST_SPREAD)
    assert row["found"].item() >= row["required"].item()


@pytest.mark.parametrize("sensitive", [WAGE, [WAGE, JOB]])
def test_a_release_whose_numbers_are_too_close_is_convicted(monkeypatch, sensitive):
    """The planner is not told that numbers have to be far apart."""
    monkeypatch.setattr(
        module, "combinations_of", lambda values, columns, _: combinations_of(values, columns)
    )
    made = list(released(staff(240, 2), contract(sensitive=sensitive, principle={"spread": SHARE})))
    found, broken = attacked(made)
    assert fi.HOST_SPREAD in broken <= {fi.HOST_SPREAD, fi.SPREAD}
    assert found[0].tables["spread"]["too_narrow"].sum() > 0
    assert found[-1].figures["least_spread"] < 0.1


def test_only_people_who_came_since_it_is_promised_are_judged_by_it():
    """A quarter of the people came with the second release; the planner heard of no spread in either."""
    made = list(released(staff(240, 2), contract()))
    promises = [Promise(Candidates(2)), Promise(Candidates(2), Spread(SHARE))]
    found = attacked(made, promises=promises)[0][-1]
    values = dict(made[1].read.values.group_by("group_id").agg(pl.col(VALUE).unique()).iter_rows())
    came = made[1].linkage.join(made[0].linkage, on="person", how="anti")
    close = sum(not is_far(values[group], SHARE) for group in came["group_id"])
    (row,) = found.findings.filter(promise=fi.HOST_SPREAD).rows(named=True)
    assert (row["people"], row["broken"], row["since"]) == (60, close, 2)
    assert 0 < close < 60
    assert found.tables["spread"]["too_narrow"].max() == 1


def test_what_is_not_promised_is_a_figure():
    made = list(released(staff(240, 1), contract()))
    (found,) = attacked(made)[0]
    assert 0 <= found.figures["least_spread"] <= found.figures["median_spread"] < 1
    assert not found.findings["promise"].str.starts_with("spread").any()
    (other,) = attacked(list(released(staff(240, 1), contract(sensitive=JOB))))[0]
    assert "least_spread" not in other.figures


def test_people_whose_bin_changed_are_refused_or_held_back():
    first, second = (table for _, table in staff(240, 2))
    far = {"spread": {"wage": 0.6}, "on_value_change": "hold_back"}
    (made,) = released([("2024-01-01", first)], contract(principle=far))
    known = second.join(made.linkage.select("person"), on="person", how="semi")
    both = known.filter(wage="0 to under 10")["person"][0]
    moved = second.with_columns(
        pl.when(pl.col("person") == both).then(pl.lit("10 to under 20")).otherwise("wage").alias("wage")
    )
    snapshots = [("2024-01-01", first), ("2024-02-01", moved)]
    with pytest.raises(ValueChangeRefused, match=r"1 people .* Set it to hold_back"):
        list(released(snapshots, contract(principle={"spread": SHARE})))
    kept = contract(principle={"spread": SHARE, "on_value_change": "hold_back"})
    with pytest.raises(NotEligible, match="fewer than m"):  # outside of the signature all numbers are close
        list(
            released(snapshots, contract(principle={"spread": {"wage": 0.6}, "on_value_change": "hold_back"}))
        )
    made = list(released(snapshots, kept))
    assert attacked(made)[1] == set()
    assert made[1].candidate.figures.held_back >= 1


def test_people_who_cannot_be_grouped_far_apart_are_refused_with_the_reason():
    (first,) = (table for _, table in staff(240, 1))
    refused = contract(principle={"spread": {"wage": 0.3}, "on_ineligible": "refuse"})
    with pytest.raises(
        NotEligible, match=r"people have numbers that are too close to one another .* at most 120"
    ):
        list(released([("2024-01-01", first)], refused))


def test_every_way_to_share_out_the_tuples_of_tiny_series_leaves_numbers_that_are_far_apart():
    looked_at = 0
    for seed in range(40 if is_thorough() else 12):
        rng = np.random.default_rng(seed)
        made = list(released(staff(int(rng.integers(4, 7)), 2, seed), contract(principle={"spread": SHARE})))
        known = [
            knowledge_table(one.people.rename({"identifier": "person"}), one.contract)
            .join(one.linkage, on="person", how="semi")
            .with_columns(release=pl.lit(n, pl.Int64))
            for n, one in enumerate(made, start=1)
        ]
        people = pl.concat(known)
        if people.is_empty():
            continue
        looked_at += 1
        ways = reconstructions(people, [one.read for one in made], invariant=True)
        assert all(is_far(values, SHARE) for values in posterior(ways).values())
    assert looked_at > 5
