"""Several sensitive columns: declared, combined, published in rows, and attacked column by column."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.series import contract_of, released
from republish.anonymize.attack.combinations import Combinations, with_parts
from republish.anonymize.attack.coverage import signatures
from republish.anonymize.columns import VALUE
from republish.anonymize.contract.combined import combine, separate
from republish.anonymize.errors import ContractError, NotEligible, SnapshotError, ValueChangeRefused
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.m_invariance import neighbours
from republish.anonymize.m_invariance import release as module
from republish.anonymize.people.values import refuse_unfit
from republish.anonymize.principles import parse_contract
from republish.orchestration.readers.datapackage.words import several_columns
from tests import findings as fi
from tests.attacks import attack_releases
from tests.papers.every_key import reconstructions
from tests.papers.surjections import posterior

COLUMNS = [
    {"name": "job", "values": ["baker", "clerk", "cook", "guard"], "description": "what they do"},
    {"name": "wage", "values": [-3, 10, 20, 30], "unit": "EUR"},
]
DECLARED = {
    "product": "staff",
    "series": "v1",
    "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
    "identifier": "person",
    "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
    "sensitive": COLUMNS,
    "principle": {"name": "m_invariance", "m": 3, "on_value_change": "refuse", "on_ineligible": "wait"},
}


def contract(**changes):
    principle = DECLARED["principle"] | changes.pop("principle", {})
    return contract_of({**DECLARED, **changes, "principle": principle})


def faults(**changes):
    with pytest.raises(ContractError) as refused:
        contract(**changes)
    return dict(refused.value.faults)


def without_company(declared):
    """The contract as it was accepted before m = 2 needed `people_per_group: 2`."""
    principle = declared.principle.model_copy(update={"people_per_group": 1})
    return declared.model_copy(update={"principle": principle})


def staff(count, releases, seed=1, shares=(0.25, 0.25, 0.25, 0.25)):
    """Snapshots in which a quarter of the people is replaced each time; the wage goes with the job."""
    rng = np.random.default_rng(seed)
    everybody = count + (releases - 1) * (count // 4)
    job = rng.choice(4, everybody, p=shares)
    wage = np.where(rng.random(everybody) < 0.5, job, rng.choice(4, everybody, p=shares))
    people = pl.DataFrame(
        {
            "person": [f"p{n}" for n in range(everybody)],
            "age": rng.integers(0, 100, everybody),
            "job": np.array(COLUMNS[0]["values"])[job],
            "wage": np.array(COLUMNS[1]["values"])[wage],
        }
    )
    for n in range(releases):
        first = n * (count // 4)
        yield f"2024-0{n + 1}-01", people[first : first + count]


def attacked(made, **options):
    found = list(attack_releases([(one.contract, one.people, one.candidate) for one in made], **options))
    broken = {row for one in found for row in one.findings.filter(~pl.col("holds"))["promise"]}
    return found, broken


# ---- what is declared


def test_a_list_is_read_and_written_as_it_is_declared():
    declared = contract()
    assert [one.name for one in declared.sensitive.columns] == ["job", "wage"]
    assert declared.column_names()["value_1"] == "wage"
    written = declared.model_dump(mode="json")["sensitive"]
    assert [one["name"] for one in written] == ["job", "wage"]
    assert contract(sensitive=written).sensitive == declared.sensitive


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"sensitive": COLUMNS[:1]}, "sensitive", "a list of two and more"),
        ({"sensitive": [COLUMNS[0], COLUMNS[0]]}, "", "the column job has more than one role"),
        ({"sensitive": [COLUMNS[0], {"name": "age"}]}, "", "the column age has more than one role"),
        (
            {"sensitive": [COLUMNS[0], {"name": "x", "sort": 1}]},
            "sensitive[x].sort",
            "is unknown; accepted: ",
        ),
        (
            {"sensitive": [COLUMNS[0], {"name": "x", "not_sensitive": ["a"]}]},
            "sensitive",
            "not_sensitive of x is refused beside other sensitive columns",
        ),
        ({"principle": {"m": 5}}, "principle.m", "m (5) needs as many sensitive values"),
        ({"principle": {"on_value_change": "separate"}}, "principle.on_value_change", "must be refuse"),
        (
            {"principle": {"on_ineligible": "counterfeit"}},
            "principle.on_ineligible",
            "is refused with several",
        ),
        ({"principle": {"m": 2}}, "principle.people_per_group", "must be 2 with several"),
        ({"principle": {"adversary": "knows_algorithm"}}, "principle.adversary", "is refused with several"),
        ({"corrections": {"2024-02-01": "wrong.csv"}}, "corrections", "are refused with several"),
    ],
)
def test_what_several_columns_cannot_have_is_refused_with_the_reason(changes, key, words):
    found = faults(**changes)
    assert any(words in message for message in found.values()), found
    assert key in found or not key


@pytest.mark.parametrize(
    "principle",
    [
        {"name": "e_equivalence", "m": 3, "e": 3},
        {"name": "streamliner", "l": 3},
        {"name": "global_guarantee", "l": 3, "strategy": "geometric"},
    ],
)
def test_other_principles_refuse_a_list(principle):
    with pytest.raises(ContractError, match="takes one sensitive column, not a list: its proof is about one"):
        parse_contract({**DECLARED, "source": {"path": "{release}.parquet"}, "principle": principle})


# ---- one column of all


@given(
    st.lists(
        st.tuples(st.text("ab\x1e\x1f 012", max_size=4), st.integers(-(2**63), 2**63 - 1)),
        min_size=1,
        max_size=6,
    )
)
def test_combinations_are_told_apart_and_are_in_the_order_of_their_values(rows):
    declared = contract(sensitive=[{"name": "job"}, {"name": "wage"}])
    table = pl.DataFrame(rows, {"value_0": pl.String, "value_1": pl.Int64}, orient="row")
    combined = combine(table.with_columns(other=1), declared)
    assert combined.columns == [VALUE, "other"]
    assert separate(combined, declared).drop("other").equals(table)
    if not any(sign in text for text, _ in rows for sign in "\x1e\x1f"):
        assert separate(combined.sort(VALUE), declared).drop("other").equals(table.sort("value_0", "value_1"))


def test_a_value_that_a_column_does_not_list_is_refused_by_its_name():
    declared = contract()
    table = pl.DataFrame({"value_0": ["baker"], "value_1": [99]})
    with pytest.raises(SnapshotError, match="1 people have a wage that is not listed"):
        refuse_unfit(combine(table, declared)[VALUE], declared.sensitive, pl.Series([], dtype=pl.String))


# ---- what is published, and its attack


@pytest.mark.parametrize("published", ["generalization", "anatomy"])
def test_a_series_keeps_every_promise_and_no_group_repeats_a_value_of_any_column(published):
    made = list(released(staff(240, 3), contract(principle={"format": published})))
    found, broken = attacked(made)
    assert broken == set()
    for one in made:
        table = one.candidate.published["microdata" if published == "generalization" else "sensitive"]
        assert {"job", "wage"} <= set(table.columns)
        assert table.schema["wage"] == pl.Int64
        for column in ("job", "wage"):
            assert not table.select(pl.struct("group_id", column).is_duplicated().any()).item()
        assert (table.group_by("group_id").len()["len"] >= 3).all()
        own = one.people.select(pl.len()).item() - one.candidate.figures.held_back
        assert one.candidate.figures.people == own
    assert found[-1].figures["smallest_candidates_by_host"] >= 3


def test_readers_are_told_that_a_known_value_of_one_column_gives_those_of_the_others():
    """The adversary knows everybody's group and job: the one row that has it says the wage."""
    made = list(released(staff(240, 3), contract()))
    for one, (_, people) in zip(made, staff(240, 3), strict=True):
        rows = one.candidate.published["microdata"].select("group_id", "job", guessed="wage")
        known = one.linkage.join(people, on="person").join(rows, on=["group_id", "job"], validate="m:1")
        assert len(known) == len(one.linkage)
        assert known["guessed"].equals(known["wage"], check_names=False)
    assert "learn the others" in " ".join(several_columns(["job", "wage"]))


def test_a_group_in_which_two_rows_share_one_value_of_one_column_is_convicted(monkeypatch):
    monkeypatch.setattr(module, "combinations_of", lambda *_: None)  # all combinations count as different
    made = list(released(staff(240, 2), contract(principle={"on_ineligible": "refuse"})))
    found, broken = attacked(made)
    assert {fi.VALUES, fi.SHARE, fi.CANDIDATES, fi.HOST_CANDIDATES} <= broken
    assert found[-1].figures["smallest_candidates_by_host"] < 3
    assert {fi.VALUES, fi.SHARE, fi.CANDIDATES} <= attacked(made, linked=False)[1]


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("seed", [2, 3])
def test_every_promise_holds_where_new_groups_are_of_neighbours_whoever_comes_and_goes(seed, monkeypatch):
    monkeypatch.setattr(neighbours, "SMALLEST", 10)
    made = list(released(staff(240, 5, seed), contract()))
    found, broken = attacked(made)
    assert broken == set()
    assert found[-1].figures["smallest_candidates_by_host"] >= 3


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("m", [2, 3])
def test_of_the_people_of_a_group_at_most_half_have_one_value_whatever_is_known_of_counterfeits(m):
    """Without it, most people beside counterfeits are guessed right by how frequent combinations are."""
    declared = contract(principle={"m": m, "people_per_group": 2})
    shares = (0.45, 0.25, 0.15, 0.15) if m == 2 else (0.3, 0.3, 0.2, 0.2)
    series = list(staff(*((400, 5) if m == 2 else (300, 4)), shares=shares))
    made = list(released(series, declared))
    found, broken = attacked(made)
    assert broken == set()
    looked_at = 0
    for one in made:
        people = one.people.select("identifier", VALUE).rename({"identifier": "person"})
        for _, group in one.linkage.join(people, on="person").group_by("group_id"):
            looked_at += 1
            for column in zip(*(value.split("\x1f") for value in group[VALUE]), strict=True):
                assert max(Counter(column).values()) * 2 <= len(group)
    assert looked_at > 100
    alone, convicted = attacked(list(released(series, without_company(declared))))
    assert not convicted
    guessed = {name: some[-1].figures["guessed_beside"] for name, some in (("now", found), ("alone", alone))}
    assert guessed["alone"] > (0.7 if m == 2 else 0.4)
    assert (guessed["now"] or 0) <= 0.6
    if m == 2:
        assert sum(one.candidate.figures.counterfeits for one in made) == 0


def test_people_whose_combination_changed_are_refused():
    first, second = (table for _, table in staff(240, 2))
    both = pl.col("person").is_in(second.join(first, on="person", how="semi")["person"].sort()[:9].implode())
    wages = pl.when(both).then(pl.lit(-3) + 33 * (pl.col("wage") == -3)).otherwise("wage")
    jobs = pl.when(both).then(pl.lit("cook")).otherwise("job")
    changed = second.with_columns(wage=wages, job=jobs)
    with pytest.raises(ValueChangeRefused, match=r"\d people .* Begin a new series, or, with one"):
        list(released([("2024-01-01", first), ("2024-02-01", changed)], contract()))


@pytest.mark.parametrize("columns", [2, 3])
def test_candidates_are_as_many_as_every_choice_of_combinations_allows(columns):
    """Brute force over all sets of combinations, on random sets."""
    rng = np.random.default_rng(5)
    names = [{"name": f"c{n}"} for n in range(columns)]
    declared = contract(sensitive=names)
    rows = pl.DataFrame({f"value_{n}": rng.integers(0, 3, 12).astype(str) for n in range(columns)}).unique()
    domain = combine(rows, declared)[VALUE].sort()
    sets = [domain.sample(int(rng.integers(1, min(8, len(domain)))), seed=n) for n in range(40)]
    held = pl.concat(pl.DataFrame({"group_id": [n] * len(some), VALUE: some}) for n, some in enumerate(sets))
    bits = signatures(held, domain).sort("group_id").drop("group_id")
    found = Combinations.of(with_parts(domain, declared.sensitive)).differing(bits, 99)
    for some, most in zip(sets, found, strict=True):
        parts = [one.split("\x1f") for one in some]
        sizes = (
            len(chosen)
            for size in range(len(parts) + 1)
            for chosen in itertools.combinations(parts, size)
            if all(len(set(column)) == size for column in zip(*chosen, strict=True))
        )
        assert most == max(sizes)


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize(("columns", "values", "m"), [(3, 13, 12), (3, 22, 20), (4, 11, 10)])
def test_candidates_of_several_groups_are_never_fewer_than_those_of_one(columns, values, m):
    """Where hardly more values than m are there: a release that keeps its promise is not convicted."""
    rng = np.random.default_rng(2)
    sets = []
    for _ in range(30):
        groups = [np.stack([rng.permutation(values)[:m] for _ in range(columns)], axis=1) for _ in range(5)]
        sets.append(np.unique(np.concatenate(groups), axis=0))
    part = np.unique(np.concatenate(sets), axis=0)
    known = Combinations(np.ascontiguousarray(part + values * np.arange(columns)))
    number = {tuple(row): at for at, row in enumerate(part.tolist())}
    bits = np.zeros((len(sets), -(-len(part) // 64)), np.uint64)
    for row, some in enumerate(sets):
        for one in some.tolist():
            bits[row, number[tuple(one)] // 64] |= np.uint64(1 << number[tuple(one)] % 64)
    assert known.differing(pl.DataFrame(bits), m).to_list() == [m] * 30


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("people_of_a_cell", [1, neighbours.SMALLEST])
def test_all_reconstructions_of_tiny_series_give_no_value_of_any_column_more_than_1_over_m(
    people_of_a_cell, monkeypatch
):
    """Brute force: every way in which people can share out the tuples of both releases."""
    monkeypatch.setattr(neighbours, "SMALLEST", people_of_a_cell)
    looked_at = with_counterfeits = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        declared = without_company(contract(principle={"m": 2, "people_per_group": 2}))
        try:
            made = list(released(staff(int(rng.integers(4, 7)), 2, seed), declared))
        except NotEligible:
            continue
        known = [
            knowledge_table(one.people.rename({"identifier": "person"}), declared)
            .join(one.linkage, on="person", how="semi")
            .with_columns(release=pl.lit(n, pl.Int64))
            for n, one in enumerate(made, start=1)
        ]
        people, read = pl.concat(known), [one.read for one in made]
        if people.is_empty():
            continue
        looked_at += 1
        with_counterfeits += sum(one.counterfeits.height for one in read)
        for values in posterior(reconstructions(people, read, invariant=True)).values():
            parts = [value.split("\x1f") for value in values]
            for column in range(2):
                by_value = Counter()
                for part, probability in zip(parts, values.values(), strict=True):
                    by_value[part[column]] += probability
                assert max(by_value.values()) <= Fraction(1, 2)
            assert any(
                all(one != other for one, other in zip(*pair, strict=True))
                for pair in itertools.combinations(parts, 2)
            ), "two combinations that differ in both columns are left"
    assert looked_at > 5
    assert with_counterfeits


def test_a_counterfeit_has_a_combination_that_somebody_had():
    had: set[str] = set()
    for one in released(staff(160, 5), contract()):
        had |= set(one.people[VALUE])
        assert set(one.read.values[VALUE]) <= had


def narrowed(first, second, m):
    """Two products of the same people, by an adversary who knows groups and how values go together.

    Returns
    -------
    tuple
        People in both; the share of whom fewer than m values of a column are left; and how often the
        likeliest value of the first and of the second column is right. In a group, each value is as likely as
        the others; how much likelier two values are together than by chance multiplies that.
    """
    truth = first.people.select("identifier", first=VALUE).join(
        second.people.select("identifier", second=VALUE), on="identifier"
    )
    number = len(truth)
    lift = (
        truth.group_by("first", "second")
        .agg(together=pl.len())
        .join(truth.group_by("first").agg(one=pl.len()), on="first")
        .join(truth.group_by("second").agg(other=pl.len()), on="second")
        .select("first", "second", weight=pl.col("together") * number / (pl.col("one") * pl.col("other")))
    )
    held = [
        one.linkage.join(
            one.read.values.select("group_id", pl.col(VALUE).alias(which)), on="group_id"
        ).select("person", which)
        for one, which in ((first, "first"), (second, "second"))
    ]
    left = held[0].join(held[1], on="person").join(lift, on=["first", "second"])
    people = left["person"].n_unique()
    counts = left.group_by("person").agg(pl.col("first", "second").n_unique())
    few = counts.filter(pl.min_horizontal("first", "second") < m).height
    right = []
    for which in ("first", "second"):
        likely = left.group_by("person", which).agg(pl.col("weight").sum())
        best = likely.sort("weight", which, descending=[True, False]).group_by("person").first()
        true = best.join(truth.select(person="identifier", true=which), on="person")
        right.append((true[which] == true["true"]).mean())
    return people, few / people, right[0], right[1]


def test_two_products_of_the_same_people_give_some_of_them_away_where_one_does_not():
    """Groups of its own for each column, as tools for one table make them, lose candidates."""
    rng = np.random.default_rng(7)
    jobs = rng.integers(1, 9, 240)
    wages = jobs * 10 + rng.integers(0, 3, 240)  # each job has three wages of its own
    rows = list(zip(range(240), jobs.tolist(), wages.tolist(), strict=True))
    people = pl.DataFrame(rows, ["person", "job", "wage"], orient="row").with_columns(
        age=pl.col("person").hash(3) % 100
    )
    lists = [{"name": name, "values": sorted(people[name].unique())} for name in ("job", "wage")]
    separate = [
        next(iter(released([("2024-01-01", people)], contract(sensitive=one, principle={"m": 3}))))
        for one in lists
    ]
    both, few, *guessed = narrowed(*separate, 3)
    assert both > 100
    assert few > 0.9
    assert min(guessed) > 0.5  # in place of 1 / 3
    together = next(iter(released([("2024-01-01", people)], contract(sensitive=lists))))
    found, broken = attacked([together])
    assert broken == set()
    assert found[0].figures["smallest_candidates_by_host"] == 3
