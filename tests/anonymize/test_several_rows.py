"""People with several rows: what is published of them, and what whoever knows all their rows learns."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from benchmarks.series import contract_of, released
from republish.anonymize.errors import ContractError, NotEligible
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.kernels.place_units import place_units
from republish.anonymize.m_invariance import release as releasing
from republish.anonymize.m_invariance.rows_apart import keep_rows_apart
from republish.anonymize.m_invariance.units import _that_can_be_shown
from republish.anonymize.people.persons import SEPARATOR, persons_of
from republish.anonymize.people.rows import keyed, named_by_row, with_row_names
from republish.anonymize.principles import parse_contract
from republish.anonymize.promise import Candidates, EverHad, Promise
from tests.attacks import attack_releases
from tests.visits import DECLARED, VALUES, visits
from tests.worlds import shares

EVER, LEFT_OUT = "ever had a value", "values of rows left out"
SEEDS = range(4)


def contract(principle=None, **changes):
    """Few people come at a time: where they are not eligible, they wait."""
    waits = {"on_ineligible": "wait"} | (principle or {})
    return contract_of({**DECLARED, **changes, "principle": DECLARED["principle"] | waits})


def finding(found, promise):
    """How many were looked at, for how many it is broken, and what was found."""
    return found.findings.filter(promise=promise).select("people", "broken", "found").row(0)


def made(snapshots, of):
    """The releases of some snapshots, as the attack takes them."""
    return [(one.contract, one.people, one.candidate) for one in released(snapshots, of)]


def signatures(releases):
    """`release`, `person`, `value`, `signature`, `group_id` of every row that was published."""
    rows = []
    for number, (of, people, candidate) in enumerate(releases, start=1):
        groups = (
            candidate.published["microdata"]
            .group_by("group_id")
            .agg(signature=pl.col(of.sensitive.name).unique().sort())
        )
        mine = people.join(candidate.linkage, on="pseudonym").join(groups, on="group_id")
        rows.append(
            mine.select(
                pl.lit(number).alias("release"), person="identifier", value="value",
                signature="signature", group_id="group_id",
            )
        )  # fmt: skip
    return pl.concat(rows)


@pytest.mark.slow("makes and audits many releases")
def test_rows_with_a_value_of_a_person_have_one_signature_for_ever_and_every_promise_is_kept():
    """A row whose value comes later, and lies in a signature that the person has, is left out."""
    beside = 0
    for seed in SEEDS:
        series = made(visits(80, 5, seed), contract())
        found = signatures(series)
        assert found.height > 500
        by_unit = found.group_by("person", "value").agg(pl.col("signature").n_unique())
        assert by_unit["signature"].max() == 1
        assert found.group_by("release", "group_id", "value").len()["len"].max() == 1
        by_person = found.group_by("person").agg(pl.col("signature").unique())
        values = pl.col("signature").list.eval(pl.element().explode()).list
        assert by_person.select((values.len() == values.n_unique()).all()).item(), "signatures share a value"
        assert by_person["signature"].list.len().max() > 1
        together = found.group_by("person", "signature").agg(pl.col("value").n_unique())
        assert together["value"].max() == 1
        had = found.select(identifier="person", value="signature").unique().explode("value")
        for of, people, candidate in series:
            known = knowledge_table(people.rename({"pseudonym": "person"}), of)
            assert known.height == people.height, "the truth of a row is that row"
            missing = people.join(candidate.linkage, on="pseudonym", how="anti")
            beside += missing.join(had, on=["identifier", "value"], how="semi").height
        for attacked in attack_releases(series):
            assert attacked.findings["holds"].all(), attacked.findings.filter(~pl.col("holds"))
            assert finding(attacked, EVER)[2] == pytest.approx(1 / 3)
        assert attacked.figures["alike"] == 0
    assert beside > 0  # in a series in which values come late in few, there are none


@pytest.mark.slow("makes many releases")
def test_a_signature_of_twice_as_many_values_has_room_for_a_second_one():
    """With a smaller m from the third release on, k of s values are known with k/s, which is 1/m."""
    contracts = [contract({"m": m, "values_per_person": 3}) for m in (4, 4, 2, 2, 2)]
    several = 0
    for seed in range(3):
        releases = made(visits(80, 5, seed), contracts)
        each = signatures(releases).with_columns(size=pl.col("signature").list.len())
        number = each.group_by("person", "signature").agg(pl.col("value").n_unique(), pl.col("size").first())
        assert (number["value"] <= (number["size"] // 2).clip(1)).all()
        several += number.filter(pl.col("value") > 1).height
        *_, last = attack_releases(releases)
        assert last.figures["alike"] == number.filter(pl.col("value") > 1)["person"].n_unique()
        assert finding(last, EVER)[2] <= 1 / 2
    assert several > 0


def test_values_are_remembered_of_rows_that_are_gone():
    of = contract({"m": 2, "values_per_person": 1}, sensitive={"name": "diagnosis", "values": VALUES[:4]})
    (_, first), *_ = visits(40, 1, values=4, most=1)
    ((_, people, candidate),) = made([("2024-01-01", first)], of)
    its = signatures([(of, people, candidate)]).unique("person").sort("person")
    gone = its["person"][0]
    second = next(one for one in its["signature"][0] if one != its["value"][0])
    left = first.filter(pl.col("patient") != gone)
    later = first.filter(patient=gone)[:1].with_columns(visit=pl.lit("V999"), diagnosis=pl.lit(second))
    again = pl.concat([left, later])
    *_, last = released([("2024-01-01", first), ("2024-02-01", left), ("2024-03-01", again)], of)
    assert last.candidate.figures.held_back == 1
    older = [*released([("2024-01-01", first), ("2024-02-01", again)], of, forgotten=["units"])]
    assert (
        older[-1].candidate.figures.held_back == 1
    )  # the state of an older version: whose value is not known
    assert older[-1].candidate.figures.people == left.height


@pytest.mark.slow("takes more than a second")
def test_more_values_under_a_signature_than_it_has_room_for_are_found(monkeypatch):
    """Releases as older versions made them: a later value joined a signature, whatever it held."""
    monkeypatch.setattr(releasing, "without_room", lambda people, *_: np.zeros(people.height, bool))
    series = made(visits(80, 5, 1), contract())
    *_, last = attack_releases(series)
    number = signatures(series).group_by("person", "signature").agg(pl.col("value").n_unique())
    people = number.filter(pl.col("value") > 1)["person"].n_unique()
    assert finding(last, EVER)[1] == last.figures["alike"] == people > 0
    assert finding(last, EVER)[2] == pytest.approx(2 / 3)


@pytest.mark.slow("takes more than a second")
def test_rows_that_are_left_out_add_to_what_is_published():
    """Two missing rows, of values in none of the signatures, have 1 - (1 - 1/n)^2; one beside another 2/m."""
    of = contract({"m": 2, "values_per_person": 1}, sensitive={"name": "diagnosis", "values": VALUES[:6]})
    rows = [(f"P{n}", f"V{n}", n, "A", VALUES[n % 6]) for n in range(12)]
    columns = ["patient", "visit", "age", "ward", "diagnosis"]
    first = pl.DataFrame(rows, columns, orient="row")
    ((_, people, candidate),) = made([("2024-01-01", first)], of)
    its = signatures([(of, people, candidate)]).filter(person="P0").row(0, named=True)
    outside = [one for one in VALUES[:6] if one not in its["signature"]]
    inside = next(one for one in its["signature"] if one != its["value"])
    for values, found in ((outside[:1], 1 / 2), (outside[:2], 1 / 2), (outside[:3], 37 / 64), ([inside], 1)):
        more = [("P0", f"W{at}", 0, "A", value) for at, value in enumerate(values)]
        table = pl.DataFrame(rows + more, columns, orient="row")
        *_, last = attack_releases(made([("2024-01-01", first), ("2024-02-01", table)], of))
        assert last.figures["ever_had"] == 1 / 2
        assert last.figures["with_left_out"] == pytest.approx(found)
        assert last.findings["holds"].all()
        assert finding(last, LEFT_OUT)[:2] == (1, 0)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("seed", range(20))
def test_by_counting_every_world_nobody_had_a_value_with_more_than_one_in_m(seed):
    """Whoever knows everybody's rows and groups, and that equal signatures mean equal values."""
    of = contract({"m": 2, "values_per_person": 2}, sensitive={"name": "diagnosis", "values": VALUES[:8]})
    try:
        found = signatures(made(visits(9, 3, seed, values=8, most=2), of))
    except NotEligible:
        pytest.skip("these few people are not eligible")
    alike = found.group_by("person", "signature").agg(pl.col("value").n_unique()).filter(pl.col("value") > 1)
    ever: dict[tuple[str, str], Fraction] = {}
    for (signature,), rows in found.with_columns(pl.col("signature").list.join("|")).group_by("signature"):
        if rows.join(alike, on="person", how="semi").height or rows["person"].n_unique() > 9:
            continue
        groups = rows.group_by("release", "group_id").agg("person")["person"].to_list()
        found_here = shares([(members, signature.split("|")) for members in groups])
        assert found_here  # the truth is one of the worlds
        for pair, share in found_here.items():
            ever[pair] = ever.get(pair, Fraction(0)) + share
    if not ever:
        pytest.skip("all of these few people wait, or are counted among people with two values alike")
    assert max(ever.values()) <= Fraction(1, 2)


def test_rows_released_as_if_each_was_a_person_give_people_away():
    """What the signatures are for: without them, a person's rows are intersected, and their values add up."""
    of = contract()
    as_people = contract_of(
        {name: value for name, value in DECLARED.items() if name not in ("rows", "row")}
        | {"identifier": "visit", "principle": {"name": "m_invariance", "m": 3}}
    )
    (date, snapshot), *_ = visits(120, 1)
    (one,) = released([(date, snapshot)], as_people)
    renamed = snapshot.rename({"patient": "identifier", "visit": "row_name"})
    people = keyed(renamed.rename({"age": "qi_0", "ward": "qi_1", "diagnosis": "value"}), of, b"key")
    rows = one.people.select("pseudonym", row_name="identifier")
    named = people.select("row_name", name="pseudonym").join(rows, on="row_name")
    linkage = one.candidate.linkage.join(named, on="pseudonym").with_columns(pseudonym="name")
    candidate = one.candidate
    object.__setattr__(candidate, "linkage", linkage.select(one.candidate.linkage.columns))
    (found,) = attack_releases([(of, people, candidate)])
    assert finding(found, EVER)[1] > 20
    assert finding(found, EVER)[2] > 0.5
    assert found.findings.filter(promise="candidates by hosting group")["holds"].all()


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("seed", SEEDS)
def test_with_a_larger_m_new_values_get_signatures_of_as_many(seed):
    contracts = [contract({"m": m, "values_per_person": 3}) for m in (2, 2, 3, 3)]
    releases = made(visits(80, 4, seed), contracts)
    each = signatures(releases).with_columns(size=pl.col("signature").list.len())
    first = each.group_by("person", "signature").agg(pl.col("release").min(), pl.col("size").first())
    assert first.filter(pl.col("release") < 3)["size"].min() == 2
    assert first.filter(pl.col("release") >= 3)["size"].min() in {3, None}  # None: all new rows wait
    for linked in (True, False):
        for found in attack_releases(releases, linked=linked):
            assert found.findings["holds"].all(), found.findings.filter(~pl.col("holds"))


def test_rows_with_further_values_are_left_out_and_whoever_misses_one_learns_little():
    of = contract({"values_per_person": 1})
    releases = made(visits(100, 4), of)
    found = signatures(releases)
    assert found.group_by("person").agg(pl.col("signature").n_unique())["signature"].max() == 1
    assert releases[-1][2].figures.held_back > 50
    *_, last = attack_releases(releases)
    assert last.findings["holds"].all()
    people, broken, few = finding(last, LEFT_OUT)
    assert people > 20
    missing = pl.concat(
        people.join(candidate.linkage, on="pseudonym", how="anti")["identifier"]
        for _, people, candidate in releases
    )
    largest = found.filter(pl.col("person").is_in(missing.implode()))["signature"].list.len().max()
    assert (broken, few) == (0, len(VALUES) - largest)
    assert last.figures["deferred"] is None  # nothing is said of frequent values: none was too frequent


def test_too_few_values_for_rows_that_are_left_out_are_found():
    of = contract({"values_per_person": 1})
    releases = made(visits(100, 2), of)
    stricter = Promise(EverHad(1 / 22), Candidates(3))
    *_, last = attack_releases(releases, [stricter] * 2)
    people, broken, _ = finding(last, LEFT_OUT)
    assert broken == people > 20


def test_a_value_of_many_rows_is_rather_kept_than_one_of_a_single_row():
    """Who is left out is drawn by a lot of rows: of three rows to one, three times in four."""
    wanted = contract({"values_per_person": 1, "m": 2})
    chosen = []
    for seed in range(8):
        rows = [
            (
                f"P{person}",
                f"V{seed}-{person}-{visit}",
                person % 100,
                "A",
                VALUES[(person + (visit == 0)) % 24],
            )
            for person in range(96)
            for visit in range(4)
        ]
        table = pl.DataFrame(rows, ["patient", "visit", "age", "ward", "diagnosis"], orient="row")
        ((_, people, candidate),) = made([("2024-01-01", table)], wanted)
        here = people.join(candidate.linkage, on="pseudonym").group_by("identifier").len()
        chosen += (here["len"] == 3).to_list()
    assert np.mean(chosen) == pytest.approx(0.75, abs=0.06)


def test_an_ineligible_batch_waits_as_a_whole():
    of = contract()
    (_, first), (_, second) = visits(100, 2)
    new = second.join(first, on="visit", how="anti").with_columns(patient="N" + pl.col("patient"))
    alike = pl.concat([first, new.with_columns(diagnosis=pl.lit(VALUES[0]))])
    one, two = made([("2024-01-01", first), ("2024-02-01", alike)], of)
    assert two[2].figures.held_back == new.height
    assert one[2].figures.held_back == 0


def test_values_that_signatures_leave_no_room_for_are_left_out():
    of = contract({"values_per_person": 8}, sensitive={"name": "diagnosis"})
    rows = [(f"P{n}", f"V{n}-{v}", n, "A", VALUES[(n + v) % 6]) for n in range(60) for v in range(3)]
    table = pl.DataFrame(rows, ["patient", "visit", "age", "ward", "diagnosis"], orient="row")
    ((_, people, candidate),) = made([("2024-01-01", table)], of)
    # Of six values, one signature takes three: what is left out is one of the three others.
    here = people.join(candidate.linkage, on="pseudonym").group_by("identifier").len()
    assert here["len"].to_list() == [1] * 60
    assert candidate.figures.held_back == 120


def test_a_person_of_whom_nothing_can_be_left_out_is_refused():
    with pytest.raises(NotEligible, match="fewer values_per_person, or begin a new series"):
        _that_can_be_shown(np.array([2]), np.array([2]), np.array([1]), 3)


def test_rows_without_a_name_are_told_apart_by_what_they_say():
    of = contract(row=None)
    table = pl.DataFrame(
        {"identifier": ["a", "a", "a", "b"], "qi_0": [1, 1, 2, 1], "value": ["x", "x", "x", None]}
    )
    named = with_row_names(table, of)
    assert named["row_name"].n_unique() == 4
    again = with_row_names(table.reverse(), of)
    assert set(again["row_name"]) == set(named["row_name"])
    people = keyed(named, of, b"key")
    assert persons_of(people["pseudonym"]).n_unique() == 2
    assert people["pseudonym"].n_unique() == 4
    assert persons_of(named_by_row(named, of)).to_list() == ["a", "a", "a", "b"]
    assert SEPARATOR not in named["row_name"].str.join("").item()


def test_people_with_one_row_have_the_pseudonyms_they_always_had():
    one = contract_of(
        {name: value for name, value in DECLARED.items() if name not in ("rows", "row")}
        | {"principle": {"name": "m_invariance", "m": 3}}
    )
    people = keyed(pl.DataFrame({"identifier": ["a", "b"]}), one, b"key")
    assert people["pseudonym"].bin.size().to_list() == [16, 16]
    assert persons_of(people["pseudonym"]).equals(people["pseudonym"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"row": "visit", "rows": "one"}, "row: is for people with several rows"),
        ({"principle": {"name": "m_invariance", "m": 3}}, "is missing: write how many different values"),
        (
            {"rows": "one", "row": None},
            "is for people with several rows. Write rows: several, or leave it out",
        ),
        ({"row": "age"}, "the column age has more than one role: identifier, row"),
        ({"principle": DECLARED["principle"] | {"values_per_person": 8}}, "Write 7 or less"),
        ({"principle": DECLARED["principle"] | {"m": 12, "values_per_person": 2}}, "Write 1 or less"),
        ({"principle": DECLARED["principle"] | {"m": 13, "values_per_person": 1}}, "Choose a smaller m"),
        ({"principle": DECLARED["principle"] | {"on_ineligible": "counterfeit"}}, "Write refuse or wait"),
        ({"principle": DECLARED["principle"] | {"people_per_group": 2}}, "Leave it out"),
        ({"principle": DECLARED["principle"] | {"on_value_change": "refuse"}}, "Write separate"),
        ({"principle": DECLARED["principle"] | {"adversary": "knows_algorithm"}}, "Write paper"),
        ({"principle": {"name": "e_equivalence", "m": 3, "e": 2}}, "takes one row for each person"),
        ({"principle": {"name": "streamliner", "l": 3}}, "takes one row for each person"),
    ],
)
def test_what_a_contract_with_several_rows_can_not_say(changes, said):
    with pytest.raises(ContractError) as caught:
        parse_contract({**DECLARED, **changes})
    assert said in str(caught.value)


class Plain:
    """`place_units`, on sets and dictionaries. Signatures have 3 values or more."""

    def __init__(self, region, value, rows, person, forbidden, spare, signature, widths, found):
        """`widths` has a dictionary for each width: the open places by region, value and bucket.

        A region of the next width is its number without the last binary digit.
        """
        self.region, self.value, self.rows, self.person, self.signature = (
            region,
            value,
            rows,
            person,
            signature,
        )
        self.forbidden, self.spare = [set(one) for one in forbidden], list(spare)
        self.widths, self.found = [dict(one) for one in widths], list(found)

    def places(self, unit, width, bucket):
        """Keys of the places that are taken with one in a region, and the fewest that are open."""
        keys = [
            (wider, (self.region[unit] >> wider, self.value[unit], bucket))
            for wider in range(width, len(self.widths))
        ]
        return keys, min(self.widths[wider][key] for wider, key in keys)

    def buckets(self, unit, width, least, taken=frozenset()):
        """The buckets of a width for a unit whose person gets the signature `taken`, and their places."""
        for bucket, its in enumerate(self.signature):
            if (self.region[unit] >> width, self.value[unit], bucket) not in self.widths[
                width
            ] or its & taken:
                continue
            _, left = self.places(unit, width, bucket)
            larger = sum(len(one) - 3 for one in (its, taken) if one)
            meets = (self.forbidden[self.person[unit]] - {self.value[unit]}) & its
            if left >= least and larger <= self.spare[self.person[unit]] and not meets:
                yield bucket, left

    def choices(self, unit, beyond):
        others = [
            one
            for one in np.flatnonzero(self.person == self.person[unit])
            if one != unit and self.found[one] < 0
        ]
        for width in range(len(self.widths)):
            for bucket, left in self.buckets(unit, width, -99 if beyond else self.rows[unit]):
                taken = self.signature[bucket]
                fit = sum(any(self.buckets(one, width, self.rows[one], taken)) for one in others)
                yield fit, -width, left, -bucket

    def place(self, order, beyond):
        for unit in order:
            if self.found[unit] >= 0 or not (choices := list(self.choices(unit, beyond))):
                continue
            _, width, _, bucket = max(choices)
            keys, _ = self.places(unit, -width, -bucket)
            for wider, key in keys:
                self.widths[wider][key] -= self.rows[unit]
            self.found[unit] = -bucket
            self.spare[self.person[unit]] -= len(self.signature[-bucket]) - 3
            self.forbidden[self.person[unit]] |= self.signature[-bucket]
        return self.found


@pytest.mark.parametrize("seed", range(60))
def test_units_are_placed_as_plain_python_places_them(seed):
    rng = np.random.default_rng(seed)
    values, buckets, units = 70 if seed % 3 else 9, 8, 30
    signature = [
        set(rng.choice(values, size, replace=False).tolist()) for size in rng.integers(3, 6, buckets)
    ]
    value = rng.integers(0, min(values, 9), units)
    person = np.sort(rng.integers(0, 14, units))
    forbidden = [set(value[person == one].tolist()) | set(rng.choice(values, 1)) for one in range(14)]
    region = rng.integers(0, 4, units)
    widths = [
        {
            (node, one, bucket): int(rng.integers(0, 5))
            for node in range(4 >> width)
            for one in range(9)
            for bucket in range(buckets)
            if one in signature[bucket] and (width == 2 or rng.random() < 0.5)
        }
        for width in range(3)
    ]
    for wider in (1, 2):  # whoever is wanted in a region is wanted in the one around it
        for node, one, bucket in widths[wider - 1]:
            widths[wider].setdefault((node >> 1, one, bucket), int(rng.integers(0, 5)))
    order, rows = rng.permutation(units), rng.integers(1, 4, units)
    found = np.where(rng.random(units) < 0.2, rng.integers(0, buckets, units), -1)
    spare = rng.integers(0, 5, 14)
    entries = [(width, *key, left) for width, one in enumerate(widths) for key, left in one.items()]
    queues = {
        key: number
        for number, key in enumerate(
            (width, node, one) for width in range(3) for node in range(4 >> width) for one in range(9)
        )
    }
    entries.sort(key=lambda entry: (queues[entry[:3]], entry[3]))
    place = {entry[:4]: number for number, entry in enumerate(entries)}
    of_queue = np.array([queues[entry[:3]] for entry in entries], np.int64)
    for beyond in (False, True):
        plain = Plain(region, value, rows, person, forbidden, spare, signature, widths, found)
        expected = plain.place(order, beyond)

        def words(sets):
            bits = np.zeros((len(sets), -(-values // 64)), np.uint64)
            for row, some in enumerate(sets):
                for one in some:
                    bits[row, one // 64] |= np.uint64(1) << np.uint64(one % 64)
            return bits

        got = found.copy()
        place_units(
            order,
            np.array(
                [
                    [queues[width, region[unit] >> width, value[unit]] for unit in range(units)]
                    for width in range(3)
                ]
            ),
            value,
            rows,
            person,
            words(forbidden),
            spare.copy(),
            words(signature),
            np.array([len(one) - 3 for one in signature]),
            np.searchsorted(of_queue, np.arange(len(queues) + 1)),
            np.array([entry[3] for entry in entries], np.int64),
            np.array(
                [place.get((width + 1, node >> 1, *key), -1) for width, node, *key, _ in entries], np.int64
            ),
            np.array([entry[4] for entry in entries], np.int64),
            got,
            beyond,
        )
        assert got.tolist() == expected


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("people", [30, 120])
def test_rows_of_a_person_are_never_in_one_group(m, people):
    """Values that come later are in signatures that have room: in one group, everybody would see it."""
    several = 0
    for seed in range(2 if people == 120 else 6):
        contracts = [contract({"m": one, "values_per_person": 3}) for one in (2 * m, 2 * m, m, m, m)]
        releases = made(visits(people, 5, seed=seed), contracts)
        for _, table, candidate in releases:
            here = table.join(candidate.linkage, on="pseudonym")
            assert not here.select(pl.struct("identifier", "group_id").is_duplicated().any()).item()
            of_bucket = here.group_by("identifier", "bucket_id").agg(pl.col("value").n_unique())
            several += of_bucket.filter(pl.col("value") > 1).height
        *_, last = attack_releases(releases)
        assert last.figures["in_one_group"] == 0
    assert several > 0


def test_two_rows_in_one_group_are_counted():
    ((of, people, candidate),) = made(visits(30, 1), contract())
    groups = (
        people.join(candidate.linkage, on="pseudonym").group_by("identifier").agg("pseudonym", "group_id")
    )
    first, second, *_ = groups.filter(pl.col("group_id").list.len() > 1).sort("identifier")["group_id"][0]
    linkage = candidate.linkage.with_columns(group_id=pl.col("group_id").replace({second: first}))
    (found,) = attack_releases([(of, people, replace(candidate, linkage=linkage))])
    assert found.figures["in_one_group"] > 0


def test_rows_are_exchanged_with_the_nearest_that_fit():
    # Two groups of one bucket: person 1 has two rows in the first, person 2 and 3 are in the second.
    group, value, person = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1, 1, 2, 3])
    codes, ranks = np.array([[0.0], [0.1], [0.9], [0.8]]), np.arange(4, dtype=np.uint64)
    bucket = np.zeros(4, np.int64)
    assert keep_rows_apart(group, bucket, value, person, codes, ranks).tolist() == [0, 1, 1, 0]
    forged = np.array([1, 1, 2, -1])
    assert keep_rows_apart(group, bucket, value, forged, codes, ranks).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_kept_apart_wherever_a_bucket_has_as_many_groups_as_a_person_has_rows(seed):
    rng = np.random.default_rng(seed)
    groups, values = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    bucket, value, group = (one.ravel() for one in np.indices((3, values, groups)))
    person = rng.integers(-1, 2 * values, len(bucket))
    of_person = np.bincount(3 * (person + 1) + bucket)
    person[(of_person > groups)[3 * (person + 1) + bucket]] = -1
    shuffled = rng.permuted(group.reshape(-1, groups), axis=1).ravel() + groups * bucket
    ranks = rng.permutation(len(bucket)).astype(np.uint64)
    apart = keep_rows_apart(shuffled, bucket, value, person, rng.random((len(bucket), 2)), ranks)
    assert len(set(zip(apart, value, strict=True))) == len(bucket)
    assert (apart // groups == bucket).all()
    people = [pair for pair in zip(apart, person, strict=True) if pair[1] >= 0]
    assert len(set(people)) == len(people)
