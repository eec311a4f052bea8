"""New people who are held back (`defer`): what absence says of several sensitive columns."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from benchmarks.series import contract_of, released
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.errors import NotEligible
from republish.anonymize.m_invariance import deferred
from republish.anonymize.m_invariance.combinations import Combinations
from tests.attacks import attack_releases
from tests.profiles import is_thorough

HELD_BACK = "new people held back"


def contract(columns, m, values=5, **principle):
    principle = {"on_value_change": "refuse", "on_ineligible": "defer", "m": m} | principle
    declared = [{"name": f"c{n}", "values": [str(value) for value in range(values)]} for n in range(columns)]
    return contract_of(
        {
            "product": "clinic",
            "series": "v1",
            "releases": {"first": "2024-01-01", "cron": "0 0 1 * *"},
            "identifier": "person",
            "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
            "sensitive": declared if columns > 1 else declared[0],
            "principle": {"name": "m_invariance", **principle},
        }
    )


def snapshots(rng, people, shares, together, releases=3):
    """Tables of which a quarter is replaced each time; a column often has the value of the first one."""
    everybody = people + (releases - 1) * (people // 4)
    columns = [rng.choice(len(share), everybody, p=share) for share in shares]
    columns = [np.where(rng.random(everybody) < together, columns[0], column) for column in columns]
    table = pl.DataFrame(
        {"person": [f"p{n}" for n in range(everybody)], "age": rng.integers(0, 100, everybody)}
        | {f"c{n}": column.astype(str) for n, column in enumerate(columns)}
    )
    for n in range(releases):
        first = n * (people // 4)
        yield f"2024-{n + 1:02}-01", table[first : first + people]


def new_people(made):
    """Of each release, the combinations of all new people, and those of new people who are held back."""
    ever = set()
    for one in made:
        here = set(one.linkage["person"])
        new = [
            (person, tuple(value.split("\x1f")))
            for person, value in one.people.select("identifier", "value").iter_rows()
            if person not in ever
        ]
        yield [values for _, values in new], [values for person, values in new if person not in here]
        ever |= here


def gives_away(new, absent, m):
    """Whether absence says of several values together more than of one: by definition, person by person."""
    places = range(len(new[0]))
    frequent = [
        (place, value)
        for place in places
        for value, people in Counter(one[place] for one in new).items()
        if people * m > len(new)
    ]
    for size in range(2, len(places) + 1):
        for some in combinations(frequent, size):
            if len({place for place, _ in some}) < size:
                continue
            have = [
                [sum(one[place] == value for place, value in some) for one in group]
                for group in (new, absent)
            ]
            (all_new, any_new), (all_absent, any_absent) = (
                (sum(number == size for number in group), sum(number > 0 for number in group))
                for group in have
            )
            if all_absent * any_new > all_new * any_absent:
                return True
    if frequent or not absent:
        return False
    pairs = (Counter((one[a], one[b]) for one in absent) for a, b in combinations(places, 2))
    return any(max(pair.values()) * m > len(absent) for pair in pairs)


def made_of(seed):
    rng = np.random.default_rng(seed)
    columns, m = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    share = rng.choice([0.4, 1, 3])
    shares = rng.dirichlet([share] * 5, columns)
    series = snapshots(rng, int(rng.integers(12, 80)), shares, rng.choice([0, 0.3, 0.8]))
    try:
        return list(released(series, contract(columns, m, people_per_group=2 if m == 2 else 1))), m
    except NotEligible:  # nobody could be published
        return [], m


def held_back_by(promise):
    return promise.filter(pl.col("promise") == HELD_BACK)


def test_nobody_who_misses_new_people_learns_several_of_their_values():
    """Brute force over random tables of two and three columns, and several releases; so does the attack."""
    looked_at = held_back = 0
    for seed in range(20 if is_thorough() else 6):
        made, m = made_of(seed)
        found = attack_releases([(one.contract, one.people, one.candidate) for one in made])
        for (new, absent), one, attacked in zip(new_people(made), made, found, strict=True):
            assert held_back_by(attacked.findings)["holds"].all()
            figures = one.candidate.figures
            assert figures.deferred_now == len(absent)
            if not absent:
                assert (figures.deferred_alike, figures.deferred_alike_in_a_column) == (0, 0)
            else:
                alike = Counter(absent).most_common(1)[0][1]
                by_column = max(Counter(column).most_common(1)[0][1] for column in zip(*absent, strict=True))
                assert (figures.deferred_alike, figures.deferred_alike_in_a_column) == (alike, by_column)
                assert attacked.figures["most_alike"] == pytest.approx(alike / len(absent))
                assert attacked.figures["most_of_a_column"] == pytest.approx(by_column / len(absent))
            if len(absent) < len(new):
                looked_at += 1
                held_back += len(absent)
                assert not gives_away(new, absent, m)
    assert looked_at > 8
    assert held_back > 40


def without_the_rule(monkeypatch):
    """The fewest are held back, whatever values they have together."""
    fewest = deferred._fewest

    def careless(together, *others):
        none = np.zeros((0, len(together.people)), np.int64)
        return fewest(together._replace(sets=together.sets[:0], every=none, some=none), *others)

    monkeypatch.setattr(deferred, "_fewest", careless)


def test_the_fewest_give_pairs_away_and_the_attack_convicts_them(monkeypatch):
    rng = np.random.default_rng(1)
    shares = [[0.55, 0.15, 0.1, 0.1, 0.1]] * 2
    declared = contract(2, 2, people_per_group=2)
    series = list(snapshots(rng, 400, shares, 0.0))
    kept = list(released(series, declared))
    without_the_rule(monkeypatch)
    broken = list(released(series, declared))
    share = {}
    for name, made in (("kept", kept), ("broken", broken)):
        found = list(attack_releases([(one.contract, one.people, one.candidate) for one in made]))
        verdicts = [held_back_by(one.findings)["holds"].all() for one in found]
        for (new, absent), holds in zip(new_people(made), verdicts, strict=True):
            assert holds == (not gives_away(new, absent, 2))
        share[name] = found[0].figures["most_alike"]
        assert all(verdicts) == (name == "kept")
    assert share["broken"] > 0.9
    assert share["kept"] < 0.5


def test_people_left_over_of_three_columns_have_no_two_values_in_common_more_often_than_a_group(monkeypatch):
    """Without giving groups up, some of them do, and the attack convicts that."""
    convicted = 0
    for careless in (False, True):
        if careless:
            monkeypatch.setattr(
                "republish.anonymize.m_invariance.plan_combinations.give_up_groups", lambda groups, *_: groups
            )
        for seed in range(2):
            rng = np.random.default_rng(seed)
            made = list(released(snapshots(rng, 200, [[0.2] * 5] * 3, 0.3), contract(3, 3)))
            found = attack_releases([(one.contract, one.people, one.candidate) for one in made])
            holds = [held_back_by(one.findings)["holds"].all() for one in found]
            wrong = [
                len(absent) < len(new) and gives_away(new, absent, 3) for new, absent in new_people(made)
            ]
            assert holds == [not one for one in wrong]
            convicted += sum(wrong)
            assert careless or not convicted
    assert convicted


@pytest.mark.parametrize("seed", range(12))
def test_no_more_are_held_back_than_it_takes(seed):
    """Every choice of people by what they have of two frequent values, one in each column."""
    rng = np.random.default_rng(seed)
    m = 2
    both, first, second, neither = people = rng.multinomial(16, [0.35, 0.25, 0.25, 0.15])
    part = np.array([[0, 4], [0, 5], [0, 6], [1, 4], [2, 4], [1, 5], [2, 6], [3, 7]])
    free = np.zeros(8, np.int64)
    free[[0, 1, 3, 7]] = both, first - first // 2, second - second // 2, neither // 3
    free[[2, 4, 5, 6]] = first // 2, second // 2, neither // 3, neither - 2 * (neither // 3)
    values = Combinations(part, 8)
    frequent = [2 * (both + one) > 16 for one in (first, second)]
    if not all(frequent):
        pytest.skip("not both values are too frequent")
    fewest = min(
        sum(held)
        for held in product(*(range(one + 1) for one in people[:3]))
        if all(
            m * (both - held[0] + one - gone) <= 16 - sum(held)
            for one, gone in zip(people[1:3], held[1:], strict=True)
        )
        and held[0] * people[:3].sum() <= both * sum(held)
    )
    staying = deferred.eligible_part(free, values, m, rng)
    assert values.are_eligible(staying, m)
    others = [m * held > staying.sum() for held in np.delete(values.by_part(staying), [0, 4])]
    assert 16 - staying.sum() == fewest or any(others)


@pytest.mark.parametrize("seed", range(3))
def test_a_value_that_becomes_too_frequent_when_others_wait_keeps_few_more_waiting(seed):
    """Five of eight people have x. Without two who have not y as well, y would be that of four of six."""
    x, y = 1, 4
    part = np.array([[0, 3], [x, 3], [x, y], [2, y], [2, 5]])
    free = np.array([1, 2, 3, 1, 1])
    values = Combinations(part, 6)
    staying = deferred.eligible_part(free, values, 2, np.random.default_rng(seed))
    assert values.are_eligible(staying, 2)
    assert (free - staying).tolist() in ([0, 1, 1, 0, 0], [0, 0, 2, 0, 0])


def test_groups_are_given_up_that_bring_people_with_one_of_two_values_and_nobody_with_both():
    """Of 160 new people 100 have x or y, and 20 both; of those left over, two of six have both."""
    x, y, other = 0, 10, np.arange(1, 6)
    part = np.array([[x, y], [x, 11], [1, y], *zip(other + 1, other + 11, strict=True)])
    values = Combinations(part, 20)
    everybody = np.array([20, 40, 40, 12, 12, 12, 12, 12])
    left = np.array([2, 2, 2, 0, 0, 0, 0, 0])
    table = np.zeros((3, 8), bool)
    table[0, [1, 2, 3]] = table[1, [0, 4, 5]] = table[2, [5, 6, 7]] = True
    signatures = Signatures.of(table)
    batch = everybody, np.zeros_like(everybody)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        stay = deferred.give_up_groups(np.array([6, 12, 12]), left, signatures, batch, values, 3, rng)
        assert stay.tolist() == [4, 12, 12]


def test_one_sensitive_column_has_no_finding_on_people_held_back():
    """Whoever is held back has the frequent value, as `on_ineligible` says of `defer`; there is no other."""
    series = snapshots(np.random.default_rng(1), 40, [[0.6, 0.1, 0.1, 0.1, 0.1]], 0, releases=1)
    (one,) = released(series, contract(1, 3))
    assert one.candidate.figures.held_back
    assert one.contract.principle.on_ineligible == "defer"
    (found,) = attack_releases([(one.contract, one.people, one.candidate)])
    assert found.holds
    assert held_back_by(found.findings).is_empty()
