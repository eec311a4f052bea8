"""What is counted is what executing the join shows, over random tables of one population."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from republish.anonymize.attack import join
from republish.anonymize.attack.join import Domains, Release, join_attack
from republish.anonymize.contract import CategoryColumn
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats.intervals import number_label
from republish.anonymize.formats.taxonomy_cuts import CUTS
from republish.anonymize.sequential import SEQUENTIAL
from republish.anonymize.sequential.matching import Pairs, code_view, read_earlier, unrelated
from republish.anonymize.sequential.taxonomy import category_taxonomy
from tests.anonymize.sequential import executed_join
from tests.anonymize.sequential.sequential_tables import attack_view, people, state, table, view_contract
from tests.papers.linking import code_published, linking

A = [["a1", "a12", "ANY"], ["a2", "a12", "ANY"], ["a3", "a34", "ANY"], ["a4", "a34", "ANY"]]
B = [["b1", "ANY"], ["b2", "ANY"], ["b3", "ANY"]]
DOMAIN = (0, 7)
VALUES = {
    "a": [path[0] for path in A],
    "b": [path[0] for path in B],
    "n": list(range(8)),
    "s": ["s1", "s2", "s3"],
}
OWN = {"c": ["c1", "c2"], "d": ["d1", "d2", "d3"]}
DECLARED = {
    "a": {"name": "a", "kind": "category", "hierarchy": A},
    "b": {"name": "b", "kind": "category", "hierarchy": B},
    "n": {"name": "n", "kind": "number", "domain": list(DOMAIN)},
    "s": {"name": "s", "kind": "category", "order": VALUES["s"]},
}
PATHS = {"a": A, "b": B}


def generalized(draw, name, value):
    """What an earlier release may have published of a value: itself or something above it."""
    if name in PATHS:
        path = next(path for path in PATHS[name] if path[0] == value)
        return draw(st.sampled_from(path))
    if name == "n":
        low = draw(st.integers(0, value))
        high = draw(st.integers(value, 7))
        return f"[{low}-{high}]" if draw(st.booleans()) else str(value)
    return value


@st.composite
def situations(draw, requirements=("anonymity", "linkability")):
    """A population, a view of it, earlier releases of it, and a contract."""
    size = draw(st.integers(2, 9))
    person = {**VALUES, **OWN}
    rows = [{name: draw(st.sampled_from(values)) for name, values in person.items()} for _ in range(size)]
    names = draw(st.lists(st.sampled_from("abns"), min_size=1, max_size=4, unique=True))
    earlier_names = draw(
        st.lists(
            st.lists(st.sampled_from([*"abns", "c", "d"]), min_size=1, max_size=4, unique=True), max_size=2
        )
    )
    unseen = [name for columns in earlier_names for name in columns if name not in names]
    assume(len(unseen) == len(set(unseen)))  # refused: these releases join with each other alone
    earlier = [
        [{name: generalized(draw, name, row[name]) for name in columns} for row in rows]
        for columns in earlier_names
    ]
    requirement = draw(st.sampled_from(requirements))
    there = sorted({*names, *(name for columns in earlier_names for name in columns)})
    x = draw(st.lists(st.sampled_from(there), min_size=1, max_size=4, unique=True))
    records = ["pid"] + (["t2"] if earlier_names else [])
    countable = [name for name in there if name not in x] + (records if requirement == "anonymity" else [])
    if requirement == "anonymity":
        countable = [
            name
            for name in countable
            if name in names or sum(name in columns for columns in earlier_names) < 2
        ]
    assume(countable)
    y = draw(st.lists(st.sampled_from(countable), min_size=1, max_size=2, unique=True))
    previous = [{"path": f"t{i}", "columns": columns} for i, columns in enumerate(earlier_names)]
    if previous:
        previous[0]["record"] = "t2"
    information = draw(st.sampled_from(["distortion", "discernibility", "class"]))
    kept = [name for name in names if name not in x or draw(st.integers(0, 5)) == 0]
    if information == "class":
        information = f"class:{kept[0]}" if kept else "distortion"
    k = draw(st.integers(2, 4)) if requirement == "anonymity" else draw(st.sampled_from([0.3, 0.5, 0.7, 1.0]))
    contract = view_contract(
        [{**DECLARED[name], "keep": name in kept} for name in names],
        requirement=requirement, x=x, y=y, k=k, previous=previous, information=information,
        inconsistent=draw(impossible(rows, names, earlier_names)),
    )  # fmt: skip
    return rows, names, earlier, contract


@st.composite
def impossible(draw, rows, names, earlier_names):
    """Inconsistent pairs that nobody in the population is an example of."""
    pairs = {}
    for ours, theirs in (("a", "c"), ("a", "d"), ("b", "a")):
        if ours in names and any(theirs in columns for columns in earlier_names) and draw(st.booleans()):
            label = draw(st.sampled_from(["a1", "a12", "a34"] if ours == "a" else ["b1", "b2"]))
            other = draw(st.sampled_from(["a1", "a12"] if theirs == "a" else OWN[theirs]))
            if not any(is_below(row[ours], label) and is_below(row[theirs], other) for row in rows):
                pairs[f"{ours}:{theirs}"] = [[label, other]]
    return pairs


def is_below(value, label):
    return value == label or any(
        path[0] == value and label in path for paths in PATHS.values() for path in paths
    )


def as_view(rows, names):
    return people(**{name: [row[name] for row in rows] for name in names})


def as_earlier(rows):
    return table(**{name: [row[name] for row in rows] for name in rows[0]})


def read(earlier, contract):
    return [
        read_earlier(as_earlier(rows), list(rows[0]), contract.columns, "t", previous.record)
        for rows, previous in zip(earlier, contract.principle.previous, strict=True)
    ]


def fixed(view, contract):
    names = {f"column_{i}": view[f"column_{i}"] for i in range(len(contract.columns))}
    return code_published(pl.DataFrame(names), contract.columns, "the view")


@pytest.mark.slow("takes more than a second")
@settings(max_examples=40)
@given(situations())
def test_releases_satisfy_the_requirement_and_cannot_be_specialized_further(situation):
    rows, names, earlier, contract = situation
    before = state(*(as_earlier(one) for one in earlier))
    needed = contract.principle.k if contract.principle.requirement == "anonymity" else 0.0
    try:
        candidate = SEQUENTIAL.release(as_view(rows, names), contract, before, 1, None)
    except NotEligible:
        most_general = [
            {
                name: row[name] if column.keep or name not in contract.principle.x else top(column)
                for name, column in zip(names, contract.columns, strict=True)
            }
            for row in rows
        ]
        assert executed_join.safety(most_general, earlier, contract) < needed
        return
    published = candidate.published["view"].to_dicts()
    assert executed_join.safety(published, earlier, contract) >= needed
    attacked = attack_view(
        candidate, as_view(rows, names), contract, previous=[as_earlier(one) for one in earlier]
    )
    assert attacked.holds
    counted = attacked.tables
    unmatched = [f"{side}_unmatched" for side in ("view", "earlier")]
    assert counted["join_privacy"].select("broken", "undecided", *unmatched).row(0) == (0, 0, 0, 0)
    assert counted["taxonomy_cuts"].select((pl.col("uncovered") + pl.col("covered_twice")).sum()).item() == 0
    assert counted["view_records"]["differing"].to_list() == [0]
    for finer in specialized_once(rows, names, candidate.state.tables[CUTS], contract):
        assert executed_join.safety(finer, earlier, contract) < needed


def top(column):
    return "ANY" if isinstance(column, CategoryColumn) else number_label(0, 8, DOMAIN)


def specialized_once(rows, names, cuts, contract):
    """The view with one more node of one cut specialized, for each node that has records and children."""
    labels = {}
    for position, column in enumerate(contract.columns):
        cut = cuts.filter(pl.col("column") == position)
        if not cut.is_empty():
            labels[column.name] = list(cut.select("label", "low", "high").iter_rows())
    under = [
        {
            column.name: covering(labels[column.name], row[column.name], column)
            if column.name in labels
            else row[column.name]
            for column in contract.columns
        }
        for row in rows
    ]
    for name, column in zip(names, contract.columns, strict=True):
        for label, low, high in labels.get(name, []):
            members = [row[name] for row, view in zip(rows, under, strict=True) if view[name] == label]
            children = below(label, low, high, column, members, rows, contract)
            if members and children:
                yield [
                    {**view, name: covering(children, row[name], column)} if view[name] == label else view
                    for row, view in zip(rows, under, strict=True)
                ]


def covering(nodes, value, column):
    code = column.labels.index(value) if isinstance(column, CategoryColumn) else value
    return next(label for label, low, high in nodes if low <= code < high)


def below(label, low, high, column, members, rows, contract):
    """The children of a node: those in the hierarchy, or the halves of the best binary split."""
    if isinstance(column, CategoryColumn):
        tree = category_taxonomy(column.paths)
        node = tree.labels.index(label)
        children = range(tree.first[node], tree.first[node] + tree.children[node])
        return [(tree.labels[child], tree.low[child], tree.high[child]) for child in children]
    distinct = sorted(set(members))
    if len(distinct) < 2:
        return []
    point = best_point(distinct, members, low, high, rows, column.name, contract)
    return [(number_label(low, point, DOMAIN), low, point), (number_label(point, high, DOMAIN), point, high)]


def best_point(distinct, members, low, high, rows, name, contract):
    """Of equally good points the most even one, and of these the lowest."""
    wanted = contract.principle
    scored = []
    for below_it, above_it in pairwise(distinct):
        point = (below_it + above_it) / 2
        n, m = sum(value < point for value in members), sum(value > point for value in members)
        if wanted.class_column:
            inside = [row for row in rows if distinct[0] <= row[name] <= distinct[-1]]
            halves = [[r for r in inside if r[name] < point], [r for r in inside if r[name] > point]]
            gain = entropy(inside, wanted) - sum(len(h) / len(inside) * entropy(h, wanted) for h in halves)
        elif wanted.information == "distortion":
            gain = ((n + m) * (high - low) - n * (point - low) - m * (high - point)) / 8
        else:
            gain = 2 * n * m
        scored.append((round(gain, 10), -abs(n - m), -point))
    return int(np.ceil(-max(scored)[2]))


def entropy(rows, wanted):
    counts = np.array(
        [sum(row[wanted.class_column] == value for row in rows) for value in VALUES[wanted.class_column]]
    )
    shares = counts[counts > 0] / len(rows)
    return float(-(shares * np.log2(shares)).sum())


@pytest.mark.slow("takes more than a second")
@settings(max_examples=40)
@given(situations(), st.sampled_from([2, join.MOST_PAIRS]))
def test_counts_and_the_attack_find_what_the_executed_join_has(situation, most_pairs):
    """Releases of one population are related. Large tables are joined a few values of the view at a time."""
    rows, names, earlier, contract = situation
    wanted = contract.principle
    view = [{name: row[name] for name in names} for row in rows]
    reference = executed_join.safety(view, earlier, contract)
    counted = linking(fixed(as_view(rows, names), contract), read(earlier, contract), contract)
    assert counted.safety == pytest.approx(reference, abs=1e-12)
    coded = code_view(as_view(rows, names), contract.columns, contract.principle.x)
    assert all(unrelated(coded, one, Pairs.of(contract)) == (0, 0) for one in read(earlier, contract))
    anonymity = wanted.requirement == "anonymity"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join, "MOST_PAIRS", most_pairs)
        (attack,) = join_attack(
            Release(as_view(rows, names).drop("pseudonym"), tuple(names), "pid"),
            [
                Release(as_earlier(one), tuple(one[0]), previous.record)
                for one, previous in zip(earlier, wanted.previous, strict=True)
            ],
            Domains(
                {name: paths for name, paths in PATHS.items() if name in names},
                {"n": DOMAIN} if "n" in names else {},
                [(*key.split(":"), *pair) for key, pairs in wanted.inconsistent.items() for pair in pairs],
            ),
            wanted.x,
            wanted.y,
            joins=[range(len(earlier))],
            linked_values=wanted.k if anonymity else None,
            limits=None if anonymity else dict.fromkeys(wanted.y, wanted.k),
        )
    assert attack.undecided == 0
    assert attack.records == sum(1 for _ in executed_join.join(view, earlier, contract))
    assert (attack.broken == 0) == (reference >= (wanted.k if anonymity else 0))
    if anonymity:
        assert attack.linked_values == reference


@pytest.mark.slow("takes more than a second")
@settings(max_examples=40)
@given(
    situations(requirements=["linkability"]),
    st.lists(st.sampled_from([1, 3, 10**6, 10**9, 10**12]), min_size=2, max_size=2),
)
def test_confidences_do_not_change_if_an_earlier_release_has_each_record_so_many_times(situation, times):
    rows, names, earlier, contract = situation
    once = [as_earlier(one) for one in earlier]
    often = [one.with_columns(records=pl.lit(c)) for one, c in zip(once, times, strict=False)]
    view = as_view(rows, names)
    made = []
    for tables in (once, often):
        try:
            made.append(SEQUENTIAL.release(view, contract, state(*tables), 1, None))
        except NotEligible as error:
            made.append(str(error))
    if isinstance(made[0], str):
        assert made[0] == made[1]
        return
    assert made[0].published["view"].equals(made[1].published["view"])
    for released in (made[0].published, {"view": fixed_as_published(view, contract)}):
        found = [
            attack_view(replace(made[0], published=released), view, contract, previous=tables)
            for tables in (once, often)
        ]
        one, other = (attacked.tables["join_privacy"] for attacked in found)
        assert one.equals(other.with_columns(one["earlier_unmatched"]))


def fixed_as_published(view, contract):
    """The view with nothing generalized, which breaks most promises."""
    return view.select(pl.col(f"column_{i}").alias(one.name) for i, one in enumerate(contract.columns))
