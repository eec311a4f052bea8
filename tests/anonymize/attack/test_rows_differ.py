"""Groups of several releases that prove that two rows of a person differ: found, and no longer made."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.series import contract_of, released
from republish.anonymize.attack.assignments import SeriesInput, choices_of
from republish.anonymize.attack.rows_differ import attack_rows_differ, differing, joined_rows
from republish.anonymize.contract import Sensitive
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats import Published
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.m_invariance import release as releasing
from republish.anonymize.promise import EverHad, Promise
from tests import visits
from tests.attacks import attack_releases

DECLARED = {**visits.DECLARED, "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}]}
SENSITIVE = Sensitive(name="value")
SCHEMA = {"patient": pl.String, "visit": pl.String, "age": pl.Int64, "ill": pl.String}


def contract(m, values, most, **principle):
    told = {"name": "m_invariance", "m": m, "values_per_person": most, "on_ineligible": "wait"} | principle
    named = [f"d{one}" for one in range(values)]
    return contract_of({**DECLARED, "sensitive": {"name": "ill", "values": named}, "principle": told})


def snapshots(seed, people, releases, values, *, changing=0.05):
    """Rows come, leave and return, are of skewed values, and some change: small, so that groups are few."""
    rng = np.random.default_rng(seed)
    chance = 1 / (np.arange(values) + 3)
    chance /= chance.sum()

    def ill():
        return f"d{rng.choice(values, p=chance)}"

    rows = [[f"P{one}", f"V{one}", one * 7 % 100, ill()] for one in range(people)]
    away: list[list] = []
    for number in range(releases):
        if number:
            back = [row for row in away if rng.random() < 0.4]
            away = [row for row in away if row not in back] + [row for row in rows if rng.random() < 0.15]
            rows = [row for row in rows if row not in away] + back
            names = {row[0] for row in rows}
            come = [int(name[1:]) for name in sorted(names) if rng.random() < 0.3]
            come += [people * (number + 1) + one for one in range(people // 6)]
            rows += [[f"P{one}", f"V{number}-{one}", one * 7 % 100, ill()] for one in come]
            rows = [[*row[:3], ill()] if rng.random() < changing else row for row in rows]
        yield f"2024-{number + 1:02}-01", pl.DataFrame(rows, SCHEMA, orient="row")


def households(seed, homes, releases, values):
    """Homes of one to three people, two of whom may share a value; people come and go, some values change."""
    rng = np.random.default_rng(seed)
    rows = []
    for home in range(homes):
        first = f"d{rng.integers(values)}"
        for member in range(rng.integers(1, 4)):
            ill = first if member == 1 else f"d{rng.integers(values)}"
            rows.append([f"P{home}", f"V{home}-{member}", home * 13 % 100, ill])
    for number in range(releases):
        rows = [[*row[:3], f"d{rng.integers(values)}"] if rng.random() < 0.05 else row for row in rows]
        here = [row for row in rows if rng.random() < 0.8]
        yield f"2024-{number + 1:02}-01", pl.DataFrame(here, SCHEMA, orient="row")


def made(snapshots_, of):
    """The releases until one is refused."""
    each = []
    try:
        for one in released(snapshots_, of):
            each.append(one)  # noqa: PERF402 - the last one may not come
    except NotEligible:
        pass
    return each


def as_older_versions_did(monkeypatch):
    """Later values of a person join a signature that the person has, whatever it holds."""
    monkeypatch.setattr(releasing, "without_room", lambda people, *_: np.zeros(people.height, bool))


def seen_of(releases):
    """All releases, as the attack takes them."""
    each = []
    for one in releases:
        people, schema = one.people.with_columns(person="pseudonym"), one.contract.table_schema
        linkage = one.candidate.linkage.select("group_id", person="pseudonym")
        each.append(choices_of(knowledge_table(people, schema), one.read, schema.sensitive, linkage))
    return SeriesInput(each, pl.DataFrame(), is_linked=True)


def proven(releases, **options):
    """How many people were looked at, for how many it is broken, and for how many not decided."""
    bounds = [1 / one.contract.principle.m for one in releases]
    counts = attack_rows_differ(seen_of(releases), bounds, **options).counts["differ"]
    return counts.people, counts.broken, counts.undecided


def single_attack(releases):
    """The attack on the last release, by whoever had all before it."""
    *_, last = attack_releases([(one.contract, one.people, one.candidate) for one in releases])
    return last


def rows_of(releases):
    """Everybody's rows in groups: release, group, signature, person, row, value."""
    for number, one in enumerate(releases):
        held = {}
        for group, value in one.candidate.published["microdata"].select("group_id", "ill").rows():
            held.setdefault(group, set()).add(value)
        there = one.people.join(one.candidate.linkage, on="pseudonym")
        for person, row, value, group in there.select("identifier", "row_name", "value", "group_id").rows():
            yield number, group, frozenset(held[group]), person, (row, value), value


def fits(groups, colours, alike):
    """Whether a colouring gives each group different colours, and `alike` rows one: all are tried."""
    named = [{alike[0] if row in alike else row for row in group} for group in groups]
    if any(len(new) < len(old) for new, old in zip(named, groups, strict=True)):
        return False
    beside = {}
    for group in named:
        for row in group:
            beside.setdefault(row, set()).update(group - {row})

    def go_on(given, left):
        if not left:
            return True
        row = min(left, key=lambda one: (-len({given[its] for its in beside[one] if its in given}), str(one)))
        used = {given[its] for its in beside[row] if its in given}
        first = range(min(colours, 2 + max(given.values(), default=-1)))
        free = [one for one in first if one not in used]
        return any(go_on({**given, row: one}, left - {row}) for one in free)

    return go_on({}, frozenset(beside))


def proofs(releases, m):
    """The people whom groups prove to have more values than a signature has room for, by all colourings."""
    found, groups, own = set(), {}, {}
    for number, group, signature, person, row, _ in rows_of(releases):
        groups.setdefault(signature, {}).setdefault((number, group), set()).add(row)
        own.setdefault((person, signature), set()).add(row)
    for (person, signature), rows in own.items():
        assert len(signature) < 2 * m  # there is room for one value
        for pair in itertools.combinations(sorted(rows), 2):
            if not fits(list(groups[signature].values()), len(signature), pair):
                found.add(person)
    return found


def hand_made(*releases):
    """Releases of rows P.V: a group is a text of rows with their values."""
    each = []
    for groups in releases:
        rows = [
            (number, f"{row.split('.')[0]}\x1f{row.split('=')[0]}", row.split("=")[1])
            for number, group in enumerate(groups, start=1)
            for row in group.split()
        ]
        hosts = pl.DataFrame(rows, ["group_id", "person", "value"], orient="row").with_columns(qi_0=1)
        every = hosts["value"].unique().sort()
        numbers = pl.DataFrame({"group_id": hosts["group_id"].unique().sort()})
        published = Published(
            boxes=numbers.with_columns(qi_0_low=1, qi_0_high=1),
            values=numbers.join(every.to_frame(), how="cross").with_columns(tuples=pl.lit(1, pl.Int64)),
            counterfeits=pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
        )
        each.append(choices_of(hosts.select("person", "value", "qi_0"), published, SENSITIVE, hosts))
    return SeriesInput(each, pl.DataFrame(), is_linked=True)


FIRST = ("P0.0=acne P4.0=flu", "P2.0=acne P5.5=flu")
LATER = ("P0.0=acne P5.5=flu", "P4.0=flu P5.9=acne")


def test_two_groups_of_one_release_and_two_of_another_prove_that_somebody_had_both_values():
    count = attack_rows_differ(hand_made(FIRST, LATER), [1 / 2, 1 / 2]).counts["differ"]
    assert (count.people, count.broken, count.undecided, count.found) == (1, 1, 0, 1.0)


def test_without_the_groups_before_nothing_is_proven():
    count = attack_rows_differ(hand_made(LATER), [1 / 2]).counts["differ"]
    assert (count.people, count.broken, count.undecided, count.found) == (1, 0, 0, 0.5)


def test_a_row_whose_value_changed_within_its_signature_has_both():
    changed = ("P0.0=acne P5.5=flu",), ("P0.0=acne P4.0=flu",), ("P4.0=flu P5.5=acne",)
    assert attack_rows_differ(hand_made(*changed), [1 / 2] * 3).counts["differ"].broken == 1


def test_where_groups_are_not_known_or_nothing_is_promised_nothing_is_said():
    seen = hand_made(FIRST)
    assert attack_rows_differ(seen, [None]) is None
    unknown = [replace(one, hosts=None) for one in seen.choices]
    assert attack_rows_differ(SeriesInput(unknown, pl.DataFrame()), [1 / 2]) is None
    assert EverHad.attack_series(seen, [Promise(EverHad(1 / 2))]).counts["differ"].people == 0


@pytest.mark.parametrize("seed", range(20))
def test_of_random_groups_exactly_what_all_colourings_say_is_proven(seed):
    rng = np.random.default_rng(seed)
    colours, rows = int(rng.integers(2, 5)), 9
    truth = {row: int(rng.integers(colours)) for row in range(rows)}
    groups = []
    for _ in range(int(rng.integers(5, 14))):
        group = {}
        for row in rng.permutation(rows).tolist():
            group.setdefault(truth[row], row)
        groups.append(set(list(group.values())[: int(rng.integers(2, colours + 1))]))
    pairs = [(number, row) for number, group in enumerate(groups) for row in group]
    graph = joined_rows(pl.DataFrame(pairs, ["group", "row"], orient="row"))
    said = []
    for pair in itertools.combinations(sorted(graph), 2):
        found = differing(*pair, graph, truth, colours, 5_000)
        assert found is not fits(groups, colours, pair)
        said.append(found)
    assert None not in said


def test_a_proof_that_takes_too_many_steps_is_not_decided():
    """P.3 is as Q0.0, because both are beside Q1.1 and Q2.2; so is Q6.6, which is beside P.7."""
    seen = hand_made(
        ("Q0.0=a Q1.1=b Q2.2=c", "Q4.4=b Q5.5=c Q6.6=a"),
        ("Q1.1=b Q2.2=c P.3=a", "Q0.0=a Q4.4=b Q5.5=c"),
        ("Q6.6=a P.7=b Q8.8=c",),
    )
    for steps, broken, undecided, found in ((0, 0, 1, 1 / 3), (1_000, 1, 0, 2 / 3)):
        count = attack_rows_differ(seen, [1 / 3] * 3, steps=steps).counts["differ"]
        assert (count.people, count.broken, count.undecided) == (1, broken, undecided)
        assert count.found == pytest.approx(found)


DESIGNS = {
    "two values": (2, 4, 1, {}),
    "two signatures": (2, 6, 2, {}),
    "three values": (3, 9, 2, {}),
    "groups made anew": (3, 9, 2, {"regroup": 1.0}),
    "households": (2, 6, 2, {"regroup": 1.0}),
}


@pytest.mark.slow("measures over many simulated tables")
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("seed", range(3))
def test_of_random_series_nothing_is_proven_now_and_much_was(design, seed, monkeypatch):
    """Churn, returns, skew, values that change: what all colourings say, and what both attacks find."""
    m, values, most, principle = DESIGNS[design]
    of, people_of = contract(m, values, most, **principle), snapshots
    if design == "households":
        people_of = households
    releases = made(people_of(seed, 14, 5, values), of)
    had = {}
    for *_, signature, person, _, value in rows_of(releases):
        had.setdefault((person, signature), set()).add(value)
    assert all(len(its) == 1 for its in had.values())
    assert proofs(releases, m) == set()
    people, *none = proven(releases)
    assert people > 0 or not had
    assert none == [0, 0]
    if len(releases) > 1:
        found = single_attack(releases)
        assert found.findings["holds"].all(), found.findings.filter(~pl.col("holds"))
        assert found.figures["alike"] == 0
    as_older_versions_did(monkeypatch)
    older = made(people_of(seed, 14, 5, values), of)
    _, broken, undecided = proven(older)
    assert undecided == 0
    assert broken == len(proofs(older, m))


@pytest.mark.slow("attacks many releases")
def test_series_of_older_versions_are_convicted(monkeypatch):
    as_older_versions_did(monkeypatch)
    proven_, alike = 0, 0
    for seed in range(2):
        releases = made(snapshots(seed, 14, 6, 4), contract(2, 4, 1, regroup=1.0))
        proven_ += proven(releases)[1]
        found = single_attack(releases)
        broken = found.findings.filter(promise="ever had a value")["broken"].item()
        assert broken == found.figures["alike"] >= proven(releases)[1]
        alike += broken
    assert 0 < proven_ <= alike
