"""People with several rows under the global guarantee: what their rows together say, by exact counting."""

import functools
import itertools
import operator
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from benchmarks.series import contract_of, released
from republish.anonymize.errors import ContractError, NotEligible
from republish.anonymize.global_guarantee.forecast import forecast, longest_plan
from republish.anonymize.global_guarantee.rows import LEFT_OUT, deal
from republish.anonymize.people.persons import persons_of
from republish.anonymize.people.rows import keyed
from republish.anonymize.principles import parse_contract
from tests.attacks import attack_releases
from tests.visits import DECLARED, VALUES, visits

TRANSIENT = {"name": "diagnosis", "semantics": "transient"}
STRATEGIES = (
    {"strategy": "constant_ratio", "releases": 2},
    {"strategy": "geometric"},
    {"strategy": "minimum"},
)
SEEDS = range(3)
BREACH = "breach probability"


def contract(rows_per_person=3, strategy=STRATEGIES[2], **principle):
    own = {"name": "global_guarantee", "l": 2, "rows_per_person": rows_per_person, "on_ineligible": "wait"}
    return contract_of({**DECLARED, "sensitive": TRANSIENT, "principle": own | strategy | principle})


def made(snapshots, of, **options):
    return [(of, one.people, one.candidate) for one in released(snapshots, of, **options)]


def groups(release):
    """The values of each group, and its persons, a row each."""
    of, people, candidate = release
    values, members = defaultdict(list), defaultdict(list)
    for row in candidate.published["microdata"].rows(named=True):
        values[row["group_id"]].append(row[of.sensitive.name])
    named = people.join(candidate.linkage, on="pseudonym").select("group_id", "identifier")
    for group, person in named.rows():
        members[group].append(person)
    return [(values[group], members[group]) for group in values]


@functools.cache
def linked(*groups):
    """How likely a row has a value: of each group its size, how many have it, and rows of the person."""
    turns = ((size - turn, often) for size, often, rows in groups for turn in range(rows))
    escaped = (Fraction(max(0, size - often), size) for size, often in turns)
    return 1 - functools.reduce(operator.mul, escaped, Fraction(1))


def ever(releases):
    """The exact probability that any row of each person ever had each value, by the groups of each."""
    counts = defaultdict(list)
    for release in releases:
        for values, members in release:
            counted = Counter(values).items()
            for person, rows in Counter(members).items():
                for value, often in counted:
                    counts[person, value].append((len(values), often, rows))
    return {link: linked(*groups) for link, groups in counts.items()}


def finding(found):
    return found.findings.filter(promise=BREACH).select("people", "broken", "found").row(0)


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_value_is_one_of_a_person_with_more_than_promised_however_many_rows_they_have(strategy, seed):
    most = 3 if strategy is STRATEGIES[2] else 2  # with less to spend, three rows of a person are too many
    releases = made(visits(500, 5, seed), contract(most, strategy))
    grouped = [groups(one) for one in releases]
    exact = ever(grouped)
    largest = float(max({*exact.values()}))
    assert largest <= 0.5 + 1e-9
    rows = [Counter(person for _, members in one for person in members) for one in grouped]
    assert max(max(one.values(), default=0) for one in rows) == most
    for one in grouped:
        assert all(len(set(members)) == len(members) for _, members in one)
    *_, last = attack_releases(releases)
    assert last.findings["holds"].all(), last.findings.filter(~pl.col("holds"))
    assert last.figures["largest_breach_probability"] == pytest.approx(largest)
    assert finding(last)[0] <= len({person for person, _ in exact})


def tables(values, members, person):
    """The values of a person's rows in a group, in each table that fits, up to the order of other rows."""
    return itertools.permutations(values, members.count(person))


def tiny(seed, people):
    """Few people with 1 to 3 rows, whose values come and go. Half of them leave, and others come."""
    rng = np.random.default_rng(seed)
    for release in range(2):
        rows = rng.integers(1, 4, people)
        holder = np.repeat(np.arange(people) + release * people // 2, rows)
        yield (
            f"2024-0{release + 1}-01",
            pl.DataFrame(
                {
                    "patient": [f"P{one}" for one in holder],
                    "visit": [f"V{release}-{number}" for number in range(len(holder))],
                    "age": holder * 7,
                    "ward": ["A"] * len(holder),
                    "diagnosis": [VALUES[one % len(VALUES)] for one in rng.permutation(len(holder))],
                }
            ),
        )


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize(
    ("strategy", "rows", "people"), [(STRATEGIES[2], 3, 12), (STRATEGIES[2], 2, 12), (STRATEGIES[1], 2, 20)]
)
def test_by_counting_every_table_nobody_ever_had_a_value_with_more_than_one_in_l(strategy, rows, people):
    """All tables that fit the releases, with several keys: code that takes nothing from the attacks."""
    of, largest, again = contract(rows, strategy), Fraction(0), 0
    for seed, key in itertools.product(range(8), (b"one key", b"another key")):
        first, second = ([*groups(one)] for one in made(tiny(seed, people), of, key=key))
        again += len({one for _, members in first for one in members} & {n for _, m in second for n in m})
        for person in {one for _, members in first + second for one in members}:
            escaped = Counter()
            every = 1
            hosts = [(values, members) for values, members in first + second if person in members]
            for number, (values, members) in enumerate(hosts):
                fit = [*tables(values, members, person)]
                every *= len(fit)
                for value in {one for values, _ in hosts for one in values}:
                    before = escaped[value] if number else 1
                    escaped[value] = before * sum(value not in own for own in fit)
            largest = max(largest, *(1 - Fraction(no, every) for no in escaped.values()))
    assert again > 0
    assert Fraction(1, 4) < largest <= Fraction(1, 2)


def test_rows_released_as_if_each_was_a_person_are_convicted():
    of = contract()
    declared = {name: value for name, value in DECLARED.items() if name not in ("rows", "row")}
    own = {"name": "global_guarantee", "l": 2, "strategy": "minimum"}
    as_people = contract_of(declared | {"identifier": "visit", "sensitive": TRANSIENT, "principle": own})
    (date, snapshot), *_ = visits(120, 1)
    (one,) = released([(date, snapshot)], as_people)
    renamed = snapshot.rename({"patient": "identifier", "visit": "row_name", "age": "qi_0", "ward": "qi_1"})
    people = keyed(renamed.rename({"diagnosis": "value"}), of, b"key")
    rows = one.people.select("pseudonym", row_name="identifier")
    named = people.select("row_name", name="pseudonym").join(rows, on="row_name")
    linkage = one.candidate.linkage.join(named, on="pseudonym").with_columns(pseudonym="name")
    object.__setattr__(one.candidate, "linkage", linkage.select(one.candidate.linkage.columns))
    (found,) = attack_releases([(of, people, one.candidate)])
    exact = ever([groups((of, people, one.candidate))])
    people_above = {person for (person, _), found in exact.items() if found > 0.5}
    assert finding(found) == (120, len(people_above), pytest.approx(float(max(exact.values()))))
    assert len(people_above) > 20


def test_two_rows_in_one_group_are_counted_without_replacement():
    """Of a group with a value twice among four, two rows of a person miss it once in six times."""
    from republish.anonymize.attack.breach import link_holders

    hosts = pl.DataFrame(
        {"person": [1, 1, 2, 3], "group_id": [0] * 4}, schema_overrides={"person": pl.UInt32}
    )
    values = pl.DataFrame({"group_id": [0] * 3, "value": ["a", "b", "c"], "tuples": [2, 1, 1]})
    found = dict(link_holders(hosts, values).filter(person=1).select("value", "probability").rows())
    assert found == {"a": pytest.approx(5 / 6), "b": pytest.approx(1 / 2), "c": pytest.approx(1 / 2)}


def test_other_values_of_rows_that_are_left_out_change_nothing():
    of = contract(rows_per_person=2)
    (first, *_), (again, *_) = visits(400, 1), visits(400, 1)
    ((_, people, candidate),) = made([first], of)
    out = people.join(candidate.linkage, on="pseudonym", how="anti")["row_name"]
    assert len(out) == candidate.figures.held_back > 20
    date, table = again
    other = (pl.col("diagnosis").str.slice(1).cast(pl.Int64) + 5) % len(VALUES)
    changed = pl.col("visit").is_in(out.implode())
    renamed = pl.concat_str(pl.lit("d"), other.cast(pl.String).str.zfill(2))
    table = table.with_columns(diagnosis=pl.when(changed).then(renamed).otherwise("diagnosis"))
    ((_, _, same),) = made([(date, table)], of)
    assert same.published["microdata"].equals(candidate.published["microdata"])
    assert same.linkage.equals(candidate.linkage)


def test_rows_are_dealt_evenly_to_layers_that_have_nobody_twice():
    rng = np.random.default_rng(1)
    persons = pl.Series(np.repeat(np.arange(300), rng.integers(1, 6, 300)))
    layer, rows = deal(persons, rng.integers(0, 2**63, len(persons)).astype(np.uint64), 3)
    dealt = pl.DataFrame({"person": persons, "layer": layer, "rows": rows})
    there = dealt.filter(pl.col("layer") != LEFT_OUT)
    assert there.n_unique(["person", "layer"]) == there.height
    sizes = there["layer"].value_counts()["count"]
    assert len(sizes) == 3
    assert sizes.max() - sizes.min() <= 1
    per_person = there.group_by("person").agg(pl.len(), pl.col("rows").first())
    assert (per_person["len"] == per_person["rows"]).all()
    assert there["person"].n_unique() == 300
    nobody, _ = deal(persons.clear(), np.empty(0, np.uint64), 3)
    assert len(nobody) == 0


def test_the_ledger_and_the_forecast_have_persons_who_return_to_what_was_spent():
    of = contract()
    (_, first), (_, second) = visits(500, 2)
    nobody = first.clear()
    one, empty, back = made([("2024-01-01", first), ("2024-02-01", nobody), ("2024-03-01", second)], of)
    tables = one[2].state.tables
    assert tables["people"]["pseudonym"].n_unique() == tables["people"].height == first["patient"].n_unique()
    assert (tables["people"]["pseudonym"].bin.size() == 16).all()
    assert one[2].figures.new == first["patient"].n_unique()
    assert sum(one[2].figures.by_releases_left.values()) == first["patient"].n_unique()
    assert empty[2].figures.tuples == 0
    everybody = pl.concat([first, second])["patient"].n_unique()
    assert back[2].figures.remembered <= everybody
    assert float(max(ever(map(groups, (one, empty, back))).values())) <= 0.5 + 1e-9
    assert forecast(back[2].state, of)["people"].sum() > 0
    forgets = contract(forget_after=1)
    *_, forgotten = made([("2024-01-01", first), ("2024-02-01", nobody)], forgets)
    assert forgotten[2].figures.forgotten == first["patient"].n_unique()
    *_, found = attack_releases(
        made([("2024-01-01", first), ("2024-02-01", nobody), ("2024-03-01", second)], forgets)
    )
    assert found.findings["holds"].all()


def test_without_the_linkage_a_series_holds():
    for found in attack_releases(made(visits(300, 3), contract()), linked=False):
        assert found.findings["holds"].all()


def test_a_release_with_too_few_values_is_refused_and_says_what_to_lower():
    (date, table), *_ = visits(100, 1, values=4)
    of = contract(on_ineligible="refuse")
    with pytest.raises(NotEligible, match=r"of \d+ rows, .*: lower rows_per_person, or merge"):
        made([(date, table)], of)
    (waits,) = made([(date, table)], contract())
    assert waits[2].figures.tuples == 0
    assert longest_plan(2, 0.1, 3) == 2


def test_persons_are_those_of_rows_and_of_people_with_one():
    ((_, people, candidate),) = made([next(iter(visits(300, 1)))], contract())
    placed = persons_of(people.join(candidate.linkage, on="pseudonym")["pseudonym"]).unique()
    assert placed.sort().equals(candidate.state.tables["people"]["pseudonym"].sort())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows_per_person": None}, "write how many rows of one person a release may have"),
        ({"rows_per_person": 0}, "must be a whole number of rows from 1 on, not 0"),
        ({"row": None}, "which of a person's rows are left out would depend on their values"),
        ({"sensitive": {"name": "diagnosis"}}, "takes each row's value as drawn anew"),
        ({"sensitive": TRANSIENT | {"not_sensitive": ["d01"]}}, "is refused with rows: several"),
        ({"rows": "one", "row": None}, "is for people with several rows"),
    ],
)
def test_contracts_of_several_rows_say_what_the_proof_needs(changes, said):
    own = {"name": "global_guarantee", "l": 2, "strategy": "minimum", "rows_per_person": 3}
    if "rows_per_person" in changes:
        own = own | changes
        changes = {}
    declared = {**DECLARED, "sensitive": TRANSIENT, "principle": own} | changes
    declared = {name: value for name, value in declared.items() if value is not None}
    own = {name: value for name, value in own.items() if value is not None}
    with pytest.raises(ContractError, match=said):
        parse_contract(declared | {"principle": own})
