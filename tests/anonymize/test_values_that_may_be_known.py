"""Values that may be known: nothing is promised of them, and no sensitive value is likelier for them."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from republish.anonymize.buckets import lots
from republish.anonymize.errors import ContractError
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract, principle_of
from tests.attacks import attack_releases
from tests.clinic import CLINIC
from tests.maybe_known import (
    NONE,
    SICK,
    contract,
    every_table,
    groups,
    probabilities,
    random,
    released,
    table,
    tables,
)
from tests.series import entered

M = 4
BUCKETS = {
    "m_invariance": {"name": "m_invariance", "m": M, "on_ineligible": "wait"},
    "exact": {"name": "m_invariance", "m": M, "on_ineligible": "wait", "format": "anatomy"},
    "e_equivalence": {"name": "e_equivalence", "m": M, "e": 3, "on_ineligible": "wait"},
}
STREAMLINER = {"name": "streamliner", "l": M}
GUARANTEE = {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 4}
THEN = {**STREAMLINER, "method": "rda", "then": "m_invariance", "on_ineligible": "wait"}
SERIES = {**BUCKETS, "then": THEN}


def broken(made, **options):
    """What the attacks found broken, over all releases."""
    return [
        row
        for found in attack_releases(made, **options)
        for row in found.findings.filter(~pl.col("holds")).rows()
    ]


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("principle", SERIES)
@given(seed=st.integers(0, 2**32), change=st.sampled_from([0, 0.03, 0.3]), few=st.booleans())
@settings(max_examples=10)
def test_all_attacks_acquit_series_in_which_most_people_have_a_value_that_may_be_known(
    principle, seed, change, few
):
    """The multisets of a person's groups are equal up to their size, or share no value: not `none` either."""
    values = {"values": [*SICK, NONE]} if few else {}
    made = list(
        released(contract(SERIES[principle], **values), tables(random(seed), releases=3, change=change))
    )
    for linked in (True, False):
        assert not broken(made, linked=linked, everything=len(made) < 3 and linked)
    seen = {}
    for members, values in (group for one in made for group in groups(*one).values()):
        sensitive = {value: often for value, often in values.items() if value != NONE}
        assert all(often * M <= values.total() for often in sensitive.values())
        least = min(sensitive.values(), default=values.total())
        shape = frozenset((value, Fraction(often, least)) for value, often in values.items())
        for person in members:
            seen.setdefault(person, set()).add(shape)
    for shapes in seen.values():
        names = Counter(value for shape in shapes for value, _ in shape)
        assert max(names.values()) == 1


@pytest.mark.slow("takes more than a second")
@given(seed=st.integers(0, 2**32))
@example(seed=131073)  # people leave one of two buckets that publish the same signature
@settings(max_examples=10)
def test_no_smaller_equivalence_attack_than_promised_is_found_with_all_the_time_there_is(seed):
    snapshots = tables(random(seed), people=24, releases=3, change=0.05, sick=SICK[:5])
    principle = {"name": "e_equivalence", "m": 3, "e": 2, "on_ineligible": "wait"}
    made = list(released(contract(principle), snapshots))
    assert not broken(made, everything=True)


@pytest.mark.slow("takes more than a second")
@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_two_people_are_known_to_be_equal_only_if_both_are_known_to_have_none(seed):
    """Found by trying each table: the chain promises that no person is known to have the value of another."""
    snapshots = tables(random(seed), people=8, releases=2, churn=0.25, change=0, sick=SICK[:3])
    principle = {"name": "e_equivalence", "m": 2, "e": 2, "on_ineligible": "wait"}
    releases = [list(groups(*one).values()) for one in released(contract(principle), snapshots)]
    alone = {p for some in releases for members, values in some if set(values) == {NONE} for p in members}
    found = [{p: value.split()[0] for p, value in one.items()} for one in every_table(releases)]
    for one, other in combinations({person for values in found for person in values} - alone, 2):
        assert any(values[one] != values[other] for values in found)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("principle", [{"name": "m_invariance", "m": 3, "on_ineligible": "wait"}])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_counting_every_table_leaves_each_sensitive_value_at_most_one_in_m(principle, seed):
    snapshots = tables(random(seed), people=9, releases=2, churn=0.25, change=0, sick=SICK[:4])
    made = list(released(contract(principle), snapshots))
    truth = dict(row for _, people, _ in made for row in people.select("identifier", "value").iter_rows())
    left = probabilities([list(groups(*one).values()) for one in made])
    for person, shares in left.items():
        assert shares[truth[person]] > 0
        assert all(share <= 1 / 3 + 1e-12 for value, share in shares.items() if value != NONE)


@pytest.mark.parametrize("principle", BUCKETS)
def test_a_change_between_a_sensitive_value_and_one_that_may_be_known(principle):
    """Within the signature it says nothing; else the new signature has no `none` if the old one had it."""
    people = {f"p{i}": [i % 100, i, NONE if i % 5 else SICK[i // 5 % 8]] for i in range(200)}
    healed, fallen = "p0", "p1"
    later = people | {healed: [0, 0, NONE], fallen: [1, 1, "HIV"]}
    first, second = (
        {person: values for members, values in groups(*made).values() for person in members}
        for made in released(contract(BUCKETS[principle]), [table(people), table(later)])
    )
    for person in (healed, fallen):
        assert set(first[person]) == set(second[person]) or not set(first[person]) & set(second[person])


def test_a_person_keeps_a_part_and_its_signature_when_they_leave_and_return():
    people = {f"p{i}": [i % 100, i, NONE if i % 5 else SICK[i // 5 % 8]] for i in range(200)}
    without = {person: row for person, row in people.items() if person not in ("p1", "p2", "p3")}
    declared = contract(BUCKETS["m_invariance"])
    made = list(released(declared, [table(people), table(without), table(people)]))
    first, last = (
        one.linkage.select("pseudonym", "bucket_id").sort("pseudonym") for one in (made[0][2], made[2][2])
    )
    assert first.equals(last)


@pytest.mark.parametrize("principle", SERIES)
def test_what_a_person_drew_they_keep(principle):
    """Who drew anew would be in groups that some tables can't explain: those without the person's value."""
    drawn = [
        made.state.tables["lots"] for _, _, made in released(contract(SERIES[principle]), tables(random(4)))
    ]
    for before, after in pairwise(drawn):
        assert before.height <= after.height
        assert before.join(after, on=before.columns, how="anti").is_empty()
    assert drawn[0].height < drawn[-1].height


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("principle", ["m_invariance", "e_equivalence"])
def test_values_may_be_whole_numbers(principle):
    numbers = {NONE: 0} | {value: place for place, value in enumerate(SICK, start=1)}
    snapshots = [
        one.with_columns(pl.col("value").replace_strict(numbers, return_dtype=pl.Int64))
        for one in tables(random(4))
    ]
    declared = contract(BUCKETS[principle], not_sensitive=[0])
    made = list(released(declared, snapshots))
    assert len(made) == 4
    assert not broken(made)
    for _, _, candidate in made:
        name = "microdata" if principle == "m_invariance" else "sensitive"
        assert candidate.published[name].schema["value"] == pl.Int64
        assert candidate.buckets.schema["signature"] == pl.List(pl.Int64)


def test_without_the_key_and_with_an_empty_list_the_same_is_published():
    snapshots = list(tables(random(3), none=0.1))
    plain, empty = (
        [made for _, _, made in released(contract(BUCKETS["m_invariance"], not_sensitive=none), snapshots)]
        for none in ([], ())
    )
    for one, other in zip(plain, empty, strict=True):
        assert one.published["microdata"].equals(other.published["microdata"])
        assert "lots" not in one.state.tables
    dumped = contract(BUCKETS["m_invariance"], not_sensitive=[]).model_dump(mode="json")
    assert "not_sensitive" not in dumped["sensitive"]


def test_without_the_key_such_a_table_cannot_be_published():
    strict = {"name": "m_invariance", "m": M}
    assert not list(released(contract(strict, not_sensitive=[]), tables(random(1))))
    assert list(released(contract(strict), tables(random(1))))


def test_the_streamliner_publishes_such_a_table():
    (made,) = released(contract(STREAMLINER), tables(random(5), people=400, releases=1))
    assert not broken([made])
    assert not broken([made], linked=False)


def test_an_adversary_who_knows_the_algorithm_is_promised_against_for_every_value():
    with pytest.raises(ContractError, match="knows_algorithm, for whom every value counts as sensitive"):
        contract({"name": "m_invariance", "m": M, "adversary": "knows_algorithm"})


@pytest.mark.slow("takes more than a second")
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_the_global_guarantee_bounds_every_sensitive_value_over_all_releases(seed):
    """By hand: one minus the product of what the person's groups leave, for each value but `none`."""
    declared = contract(GUARANTEE, semantics="transient")
    made = list(released(declared, tables(random(seed), people=200, change=0.3)))
    assert made
    escaped = {}
    for one in made:
        for members, values in groups(*one).values():
            for value, often in values.items():
                for person in members:
                    left = escaped.get((person, value), Fraction(1))
                    escaped[person, value] = left * (1 - Fraction(often, values.total()))
    bound = Fraction(1, 2) + Fraction(1, 10**9)
    assert all(1 - left <= bound for (_, value), left in escaped.items() if value != NONE)
    assert any(1 - left > bound for (_, value), left in escaped.items() if value == NONE)
    for linked in (True, False):
        assert not broken(made, linked=linked)


def test_a_view_says_by_its_confidences_which_values_may_be_known():
    declared = {
        **CLINIC,
        "columns": [{"name": "age", "kind": "number", "domain": [0, 120]}],
        "sensitive": {"name": "disease", "not_sensitive": [NONE]},
        "principle": {"name": "sequential", "requirement": "linkability", "k": 0.5, "x": ["age"], "y": ["v"]},
    }
    with pytest.raises(ContractError) as refused:
        parse_contract(declared)
    message = dict(refused.value.faults)["sensitive"]
    assert message.startswith("is not for a view: principle.k says what nobody may learn")


LISTED = {"values": ["flu", "gout", NONE]}
FAULTS = {
    "a value that is not listed": (
        {**LISTED, "not_sensitive": ["nane"]},
        "names nane, which is not listed under sensitive.values",
    ),
    "every value": (
        {**LISTED, "not_sensitive": ["flu", "gout", NONE]},
        "lists every value: leave at least one that nobody may learn",
    ),
    "a value twice": ({"not_sensitive": [NONE, NONE]}, "lists none more than once"),
    "nothing": ({"not_sensitive": [None]}, "must be all text or all whole numbers"),
    "the source's name": (
        {"renamed": {NONE: "healthy"}, "not_sensitive": ["healthy"]},
        "lists the source's name of none: write none, the series' own name",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_contract_says_which_values_may_be_known(fault):
    declared, message = FAULTS[fault]
    with pytest.raises(ContractError) as refused:
        contract(BUCKETS["m_invariance"], **declared)
    assert refused.value.faults == [("sensitive.not_sensitive", message)]


def test_fewer_listed_values_than_m_are_enough_if_one_may_be_known():
    few = contract({"name": "m_invariance", "m": M, "on_ineligible": "wait"}, values=["flu", NONE])
    people = {f"p{i}": [i % 100, i, NONE if i % 5 else "flu"] for i in range(50)}
    (made,) = released(few, [table(people)])
    assert any(set(values) == {"flu", NONE} for _, values in groups(*made).values())
    assert not broken([made])


@pytest.mark.slow("counts every world")
@pytest.mark.parametrize(
    ("method", "values"), [("gda", ("flu", NONE, NONE, NONE)), ("rda", ("flu", "flu", NONE, NONE))]
)
def test_every_table_and_every_lot_leaves_the_streamliners_promise(monkeypatch, method, values):
    """An adversary who knows the algorithm: all tables, all secret orders of people, and all of lots."""
    declared = contract({"name": "streamliner", "l": 2, "method": method})
    draw, none, seen = lots._drawn, lots._lots(State.empty(), pl.String()), {}
    monkeypatch.setattr(lots, "_keyed_ranks", lambda *_: None)
    for given_values in sorted(set(permutations(values))):
        named = entered(table({f"p{i}": [10 * i, 10 * i * i, given_values[i]] for i in range(4)}), declared)
        # Lots that deal the same parts are released once: all else follows from parts.
        ranks = (pl.Series(lot, dtype=pl.UInt64).to_numpy() for lot in permutations(range(4)))
        parts = (draw(named, none, State.empty(), declared.sensitive, one, 1 / 2) for one in ranks)
        dealt = Counter(map(tuple, parts))
        assert len(dealt) > 1
        for order in permutations(number.to_bytes(16) for number in range(4)):
            people = named.with_columns(pseudonym=pl.Series(order, dtype=pl.Binary))
            for these, often in dealt.items():
                monkeypatch.setattr(lots, "_drawn", lambda *_, these=these: pl.Series(these))
                release = principle_of(declared).release
                candidate = release(people, declared, State.empty(), 1, lambda _: random(1))
                rows = tuple(candidate.published["microdata"].rows())
                seen.setdefault(rows, Counter())[given_values] += often
    assert sum(counted.total() for counted in seen.values()) == 24 * 24 * len(set(permutations(values)))
    for counted in seen.values():
        for person in range(4):
            ill = sum(often for told, often in counted.items() if told[person] != NONE)
            assert 2 * ill <= counted.total()
