"""Xiao and Tao, m-Invariance, SIGMOD 2007: the running example, by table and figure."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.buckets.counts import is_eligible
from republish.anonymize.buckets.divide import UNDECIDED, divide
from republish.anonymize.buckets.memory import MEMORY_SCHEMA, Memory
from republish.anonymize.buckets.plan import make_plan
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.m_invariance.group import EMPTY, group_people
from republish.anonymize.m_invariance.release import release
from republish.anonymize.people.ranks import keyed_ranks
from republish.anonymize.principle.state import State
from tests.plans import as_tables
from tests.series import draws, make_contract

VALUES = ["bronchitis", "dyspepsia", "flu", "gastritis"]
BRONCHITIS, DYSPEPSIA, FLU, GASTRITIS = range(4)

TABLE_1A = {
    "Bob": (21, 12000, "dyspepsia"), "Alice": (22, 14000, "bronchitis"), "Andy": (24, 18000, "flu"),
    "David": (23, 25000, "gastritis"), "Gary": (41, 20000, "flu"), "Helen": (36, 27000, "gastritis"),
    "Jane": (37, 33000, "dyspepsia"), "Ken": (40, 35000, "flu"), "Linda": (43, 26000, "gastritis"),
    "Paul": (52, 33000, "dyspepsia"), "Steve": (56, 34000, "gastritis"),
}  # fmt: skip
TABLE_1B = {
    "Bob": 1, "Alice": 1, "Andy": 2, "David": 2, "Gary": 3, "Helen": 3,
    "Jane": 4, "Ken": 4, "Linda": 4, "Paul": 5, "Steve": 5,
}  # fmt: skip
TABLE_2A = {
    "Bob": (21, 12000, "dyspepsia"), "David": (23, 25000, "gastritis"), "Emily": (25, 21000, "flu"),
    "Jane": (37, 33000, "dyspepsia"), "Linda": (43, 26000, "gastritis"), "Gary": (41, 20000, "flu"),
    "Mary": (46, 30000, "gastritis"), "Ray": (54, 31000, "dyspepsia"), "Steve": (56, 34000, "gastritis"),
    "Tom": (60, 44000, "gastritis"), "Vince": (65, 36000, "flu"),
}  # fmt: skip
TABLE_3A = {
    ("Bob",): "bronchitis dyspepsia",
    ("David", "Emily"): "flu gastritis",
    ("Jane", "Linda"): "dyspepsia flu gastritis",
    ("Gary", "Mary"): "flu gastritis",
    ("Ray", "Steve"): "dyspepsia gastritis",
    ("Tom", "Vince"): "flu gastritis",
}
INTERVALS_3A = {
    "David": (23, 25, 21000, 25000),
    "Jane": (37, 43, 26000, 33000),
    "Gary": (41, 46, 20000, 30000),
    "Ray": (54, 56, 31000, 34000),
    "Tom": (60, 65, 36000, 44000),
}
BUC1, BUC2, BUC3, BUC4 = range(4)
SIGNATURES = [
    ["flu", "gastritis"],
    ["dyspepsia", "gastritis"],
    ["bronchitis", "dyspepsia"],
    ["dyspepsia", "flu", "gastritis"],
]
"""Of the buckets as Figure 2 numbers them."""
BUCKET_OF_GROUP = {1: BUC3, 2: BUC1, 3: BUC1, 4: BUC4, 5: BUC2}

CONTRACT = make_contract(("age", "zipcode"), {"age": 2, "zipcode": 2000}, VALUES, m=2)


def snapshot(table):
    rows = [(name.encode(), *row) for name, row in table.items()]
    columns = ["pseudonym", "qi_0", "qi_1", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def ranks(names, number):
    """A secret order of tuples, another for each release."""
    return keyed_ranks(pl.Series(list(names)), draws(number)("split"))


def groups_by_name(linkage):
    return {name.decode(): group for name, group in linkage.select("pseudonym", "group_id").rows()}


@pytest.fixture
def published():
    """What T*(1), Table 1b, leaves for the second release."""
    memory = [(name.encode(), BUCKET_OF_GROUP[group], 1, 1) for name, group in TABLE_1B.items()]
    return Memory(
        people=pl.DataFrame(memory, schema=MEMORY_SCHEMA, orient="row"),
        buckets=pl.DataFrame(
            {"bucket_id": range(4), "signature": SIGNATURES}, schema_overrides={"bucket_id": pl.Int32}
        ),
    )


@pytest.fixture
def division(published):
    people = snapshot(TABLE_2A)
    signatures = np.array([[value in signature for value in VALUES] for signature in SIGNATURES])
    value = np.array([VALUES.index(value) for value in people["value"]])
    return divide(people["pseudonym"], value, published.people, Signatures.of(signatures), number=2)


def test_table_1a_is_2_eligible_and_so_is_what_is_inserted_into_table_2a(division):
    first = pl.Series([row[2] for row in TABLE_1A.values()]).value_counts()["count"]
    assert is_eligible(first.to_numpy(), 2)
    assert division.counts.free.tolist() == [0, 1, 2, 2]
    assert is_eligible(division.counts.free, 2)


def test_figure_2a_the_buckets_after_division(division):
    contents = {
        name: int(bucket)
        for name, bucket in zip(TABLE_2A, division.bucket, strict=True)
        if bucket != UNDECIDED
    }
    assert contents == {"Gary": BUC1, "David": BUC1, "Steve": BUC2, "Bob": BUC3, "Jane": BUC4, "Linda": BUC4}


def test_figures_2b_and_2c_ray_fills_a_shortage_and_two_counterfeits_the_others(division):
    for number in range(20):
        plan = as_tables(make_plan(division.counts, 2, "refuse", draws(number)("plan")))
        moved = np.zeros((4, 4), int)
        moved[BUC2, DYSPEPSIA] = 1
        moved[BUC1, [FLU, GASTRITIS]] = 2
        counterfeits = np.zeros((4, 4), int)
        counterfeits[BUC3, BRONCHITIS] = counterfeits[BUC4, FLU] = 1
        assert plan.moved.tolist() == moved.tolist()
        assert plan.counterfeits.tolist() == counterfeits.tolist()
        assert plan.signatures.tolist() == division.counts.signatures.table().tolist()
        assert not plan.separated.people.sum()


def split(bucket, value, codes, ranks):
    """The groups that the paper's split alone makes."""
    return group_people(bucket, value, codes, ranks, "fast", np.zeros(bucket.max() + 1, np.uint64))


def test_buc_1_is_split_into_the_groups_of_table_3a():
    # By hand, with ages worth A and zipcodes worth Z a thousand (their shares of the domains): the first
    # split after {David, Emily} costs 100A + 104Z, after {David, Emily, Gary, Mary} by either attribute
    # 102A + 56Z, after {David, Gary} by zipcode 196A + 102Z. The second, after {David, Emily}, costs
    # 14A + 28Z, after {David, Gary} 78A + 28Z; and where the first was after {David, Emily}, the second can
    # only part {Gary, Mary} from {Tom, Vince}. So Table 3a's groups follow with any two domains.
    for ages, zipcodes in ((121, 90_000), (80, 40_000), (1_000, 60_000), (70, 10_000_000)):
        for number in range(5):
            names = ["Gary", "David", "Emily", "Vince", "Mary", "Tom"]
            codes = np.array([[TABLE_2A[name][0] / ages, TABLE_2A[name][1] / zipcodes] for name in names])
            value = np.array([VALUES.index(TABLE_2A[name][2]) for name in names])
            group = split(np.zeros(6, np.int64), value, codes, ranks(names, number))
            groups = {frozenset(np.array(names)[group == g]) for g in range(3)}
            assert groups == {
                frozenset({"David", "Emily"}),
                frozenset({"Gary", "Mary"}),
                frozenset({"Vince", "Tom"}),
            }


def test_a_counterfeit_widens_no_interval():
    codes = np.array([[0.2], [0.9], [EMPTY], [0.8]])
    group = split(np.zeros(4, np.int64), np.array([0, 0, 1, 1]), codes, ranks("abcd", 1))
    assert group[0] == group[2] != group[1] == group[3]


@pytest.fixture
def second(published):
    return release(snapshot(TABLE_2A), CONTRACT, State(published.tables()), 2, draws(2))


def test_table_3a_the_groups_their_signatures_and_their_intervals(second):
    microdata = second.published["microdata"]
    group_of = groups_by_name(second.linkage)
    for names, signature in TABLE_3A.items():
        (group,) = {group_of[name] for name in names}
        rows = microdata.filter(group_id=group)
        assert rows["value"].to_list() == signature.split()
        if names[0] in INTERVALS_3A:
            assert set(rows.drop("group_id", "value").rows()) == {_on_the_grid(*INTERVALS_3A[names[0]])}
    assert microdata.height == 13
    assert microdata["group_id"].n_unique() == 6


def _on_the_grid(youngest, oldest, lowest, highest):
    """The paper's intervals end at people's own values; ours where cells of 2 years and 2,000 codes do."""
    return (youngest // 2 * 2, oldest // 2 * 2 + 1, lowest // 2000 * 2000, highest // 2000 * 2000 + 1999)


def test_bobs_interval_is_as_wide_as_in_table_3a_and_not_placed_around_him(second):
    # The paper publishes [21, 22] and [12k, 14k]; ours are cells of a grid that does not know Bob.
    group = groups_by_name(second.linkage)["Bob"]
    rows = second.published["microdata"].filter(group_id=group)
    assert set(rows.drop("group_id", "value").rows()) == {(20, 21, 12000, 13999)}


def test_table_3b_one_counterfeit_with_bob_and_one_with_jane_and_linda(second):
    group_of = groups_by_name(second.linkage)
    assert second.published["counterfeits"].rows() == [(group_of["Bob"], 1), (group_of["Jane"], 1)]


def test_figure_2c_the_buckets_in_use(second):
    assert second.buckets.rows() == [
        (BUC1, ["flu", "gastritis"], 6, 0, 3),
        (BUC2, ["dyspepsia", "gastritis"], 2, 0, 1),
        (BUC3, ["bronchitis", "dyspepsia"], 1, 1, 1),
        (BUC4, ["dyspepsia", "flu", "gastritis"], 2, 1, 1),
    ]


def test_the_departed_of_table_1a_stay_remembered(second):
    memory = {name.decode(): rest for name, *rest in Memory.of(second.state, pl.String()).people.rows()}
    assert memory["Alice"] == [BUC3, 1, 1]
    assert memory["Bob"] == [BUC3, 1, 2]
    assert memory["Emily"] == [BUC1, 2, 2]
    assert set(memory) == set(TABLE_1A) | set(TABLE_2A)
