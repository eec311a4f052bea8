"""Missing values that are published: what groups say of them, and what the audit makes of what they say."""

import datetime as dt
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.coverage import covering
from republish.anonymize.attack.matching import covering_groups
from republish.anonymize.columns import IDENTIFIER, VALUE
from republish.anonymize.contract.changes import column_changes, declared_columns
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import ContractError, NotEligible
from republish.anonymize.formats.published import Published
from republish.anonymize.people.codes import MIXED, as_points, decode, encode_columns
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract, principle_of
from republish.orchestration.snapshots.missing import settle_missing
from republish.orchestration.snapshots.sources import enter
from republish.orchestration.snapshots.validation import conform
from tests.anonymize.sequential.sequential_tables import JOBS, attack_view, view_contract
from tests.attacks import attack_releases
from tests.clinic import CLINIC
from tests.series import KEY, draws

COLUMNS = [
    {"name": "age", "kind": "number", "domain": [0, 99]},
    {"name": "weight", "kind": "number", "domain": [0.5, 180.25], "min_width": 20},
    {"name": "admitted", "kind": "date", "domain": ["1999-12-30", "2024-02-29"], "min_width": 90},
    {"name": "sex", "kind": "category", "order": ["F", "M"]},
]
PUBLISHED = [{**column, "missing": "publish"} for column in COLUMNS]
VALUES = ["angina", "flu", "gout", "mumps", "rest", "x", "y"]
PRINCIPLES = {
    "intervals": {"name": "m_invariance", "m": 2},
    "fast intervals": {"name": "m_invariance", "m": 3, "effort": "fast"},
    "knows the algorithm": {"name": "m_invariance", "m": 2, "adversary": "knows_algorithm"},
    "exact": {"name": "m_invariance", "m": 2, "format": "anatomy"},
    "equivalence": {"name": "e_equivalence", "m": 2, "e": 2},
    "ever had": {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 3},
    "rda": {"name": "streamliner", "l": 2},
    "gda": {"name": "streamliner", "l": 2, "method": "gda"},
    "ria": {"name": "streamliner", "l": 2, "method": "ria"},
}


EXACT = ("exact", "equivalence")


def contract_of(principle, columns=PUBLISHED, sensitive=None):
    if principle in EXACT:
        columns = [{key: said for key, said in one.items() if key != "min_width"} for one in columns]
    return parse_contract(
        {
            **CLINIC,
            "quasi_identifiers": columns,
            "sensitive": {"name": "disease", **(sensitive or {})},
            "principle": PRINCIPLES[principle] if isinstance(principle, str) else principle,
        }
    )


def drawn(rng, people, lacking):
    """A table in which each value is missing by chance; sensitive values are shared evenly."""
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 8000, people)]
    table = pl.DataFrame(
        {
            "age": rng.integers(0, 100, people),
            "weight": np.round(rng.uniform(0.5, 180.25, people), 2),
            "admitted": pl.Series(days, dtype=pl.Date),
            "sex": pl.Series(rng.choice(["F", "M"], people).tolist(), dtype=pl.String),
            "disease": [VALUES[n % len(VALUES)] for n in range(people)],
        }
    )
    gone = {name: pl.Series(rng.random(people) < lacking) for name in table.columns[:-1]}
    table = table.with_columns(pl.when(~gone[name]).then(pl.col(name)) for name in gone)
    return table.with_columns(person=pl.Series([f"p{n}" for n in range(people)]))


def settled(table, contract):
    people = settle_missing(conform(enter(table, contract), contract), contract).people
    return people.with_columns(pseudonyms(people[IDENTIFIER], KEY).alias("pseudonym"))


def released(table, contract, number=1, state=None):
    people = settled(table, contract)
    release = principle_of(contract).release
    return people, release(people.drop(IDENTIFIER), contract, state or State.empty(), number, draws(number))


def attacked(*made, linked=True):
    """What the attack on the last of some releases found: `(contract, people, candidate)` of each."""
    *_, found = attack_releases(made, linked=linked)
    return found


def broken(found):
    return found.findings.filter(~pl.col("holds"))["promise"].to_list()


def covers_everybody(people, candidate, contract):
    """Whether each person's published group says what the person's row does."""
    main, *_ = principle_of(contract).format(contract).tables(contract)
    rows = candidate.published[main]
    hosted = people.join(candidate.linkage.select("pseudonym", "group_id"), on="pseudonym")
    codes = encode_columns(hosted, contract)
    for column, qi in contract.attributes():
        own = codes[column]
        if qi.name in rows.columns:
            here = rows.select("group_id", own=qi.name).unique()
            mine = hosted.select("group_id", own=column)
            assert mine.join(here, on=["group_id", "own"], how="anti", nulls_equal=True).is_empty()
            continue
        groups = rows.select("group_id", f"^{qi.name}_(low|high|missing)$").unique()
        assert not groups["group_id"].is_duplicated().any()
        beside = hosted.select("group_id", column).with_columns(own=own).join(groups, on="group_id")
        is_missing = beside["own"].is_null()
        nothing = MISSING if qi.kind == "category" else None
        counted = beside.group_by("group_id").agg(
            true=pl.col("own").null_count(), stated=pl.col(f"{qi.name}_missing").first()
        )
        assert (counted["true"] == counted["stated"]).all()
        known = beside.filter(~is_missing)
        low, high = (known[f"{qi.name}_{end}"] for end in ("low", "high"))
        value = known.select(decode(pl.col("own"), qi)).to_series()
        if qi.kind == "category":
            low, value, high = (one.replace_strict(list(qi.labels), [0, 1]) for one in (low, value, high))
        assert ((low <= value) & (value <= high)).all()
        alone = groups.filter(~pl.col("group_id").is_in(known["group_id"].unique().implode()))
        assert (
            alone[f"{qi.name}_low"].to_list() == alone[f"{qi.name}_high"].to_list() == [nothing] * len(alone)
        )


@pytest.mark.parametrize("principle", ["intervals", "fast intervals", "ever had", "gda"])
def test_groups_do_not_mix_people_with_and_without_where_that_costs_nothing(principle):
    contract = contract_of(principle, [PUBLISHED[0], {**PUBLISHED[1], "min_width": 0}])
    weights = np.random.default_rng(1).uniform(50, 50.2, 480)  # a thousandth of the domain
    rows = [(f"p{n}", None if n % 2 else 40, VALUES[n // 2 % 6], weights[n]) for n in range(480)]
    table = pl.DataFrame(rows, schema=["person", "age", "disease", "weight"], orient="row")
    _, candidate = released(table, contract)
    groups = candidate.published["microdata"]
    assert groups["age_low"].null_count() == 240
    assert groups.filter(pl.col("age_low").is_not_null(), pl.col("age_missing") > 0).is_empty()


def test_a_number_that_may_be_missing_is_two_its_value_and_whether_it_is_known():
    contract = contract_of("intervals", [{**COLUMNS[0], "domain": [0, 50]}, PUBLISHED[0] | {"name": "size"}])
    codes = pl.DataFrame({"qi_0": [0, 25, 50], "qi_1": [99, None, 0]})
    assert as_points(codes, contract, -1).tolist() == [[0, 1, MIXED], [0.5, -1, 0], [1, 0, MIXED]]


@given(seed=st.integers(0, 2**32), people=st.integers(1, 300), boxes=st.integers(1, 70))
def test_whoever_lacks_a_value_fits_where_somebody_does_and_others_where_their_value_is(seed, people, boxes):
    rng = np.random.default_rng(seed)
    points = pl.DataFrame(
        {
            name: [None if rng.random() < 0.2 else int(rng.integers(0, most)) for _ in range(people)]
            for name, most in WIDE
        },
        schema={name: pl.Int64 for name, _ in WIDE},
    )
    shown = {"group_id": np.arange(boxes)}
    for name, most in WIDE:
        ends = np.sort(rng.integers(0, most, (2, boxes)), axis=0)
        nobody = rng.random(boxes) < 0.2
        for end, codes in zip(("low", "high"), ends, strict=True):
            shown[f"{name}_{end}"] = pl.Series(codes).set(pl.Series(nobody), None)
        shown[f"{name}_missing"] = np.maximum(rng.integers(0, 2, boxes), nobody)
    shown = pl.DataFrame(shown)
    fits = [
        {
            box["group_id"]
            for box in shown.iter_rows(named=True)
            if all(
                box[f"{name}_missing"] > 0
                if point[name] is None
                else box[f"{name}_low"] is not None
                and box[f"{name}_low"] <= point[name] <= box[f"{name}_high"]
                for name, _ in WIDE
            )
        }
        for point in points.iter_rows(named=True)
    ]
    found = [set() for _ in range(people)]
    for point, box in zip(*covering(points, shown), strict=True):
        found[point].add(shown["group_id"][int(box)])
    assert found == fits
    named = points.with_columns(person=pl.int_range(people), value=pl.lit("flu"))
    pairs = covering_groups(named, Published(shown, pl.DataFrame(), pl.DataFrame()))
    assert set(pairs.select("person", "group_id").rows()) == {
        (person, group) for person, groups in enumerate(fits) for group in groups
    }


WIDE = [("qi_0", 1000), ("qi_1", 3)]


def test_whoever_lacks_a_sensitive_value_is_left_out_and_not_held_back():
    contract = contract_of("intervals", sensitive={"values": VALUES, "missing": "leave_out"})
    table = drawn(np.random.default_rng(3), 60, 0.1)
    people, first = released(table, contract)
    lost = table.with_columns(pl.when(pl.col("person") != "p0").then("disease"))
    later, second = released(lost, contract, 2, first.state)
    assert "p0" not in later[IDENTIFIER]
    made = [(contract, people, first), (contract, later, second)]
    found = attacked(*made)
    assert broken(found) == []
    absent = found.findings.filter(promise="candidates by absence")
    assert absent["people"].to_list() == [0]
    back, third = released(table, contract, 3, second.state)
    assert broken(attacked(*made, (contract, back, third))) == []
    signatures = [
        one.buckets.filter(pl.col("bucket_id") == bucket)["signature"].to_list()
        for one, everybody in ((first, people), (third, back))
        for bucket in one.linkage.filter(
            pl.col("pseudonym") == everybody.filter(pl.col(IDENTIFIER) == "p0")["pseudonym"].item()
        )["bucket_id"]
    ]
    assert signatures[0] == signatures[1]


def test_counterfeits_without_a_value_are_looked_for_as_others_are():
    contract = contract_of("exact")
    table = drawn(np.random.default_rng(5), 200, 0.3)
    people, first = released(table, contract)
    # So many have left that counterfeits fill their places.
    stay, second = released(table.filter(pl.col("disease") != "flu"), contract, 2, first.state)
    forged = int(second.published["counterfeits"]["count"].sum())
    found = attacked((contract, people, first), (contract, stay, second))
    assert broken(found) == []
    (seen,) = found.findings.filter(promise="counterfeits hidden")["people"]
    assert forged / 4 < seen <= forged  # the others look like people


def test_a_missing_sensitive_value_is_a_value_among_others():
    contract = contract_of("intervals", sensitive={"values": VALUES, "missing": "publish"})
    table = drawn(np.random.default_rng(3), 70, 0)
    table = table.with_columns(pl.when(pl.col("disease") != "flu").then("disease"))
    people, candidate = released(table, contract)
    assert people[VALUE].value_counts().filter(value=MISSING)["count"].to_list() == [10]
    assert candidate.published["microdata"].filter(disease=MISSING).height == 10
    assert broken(attacked((contract, people, candidate))) == []
    may_be_known = {"values": VALUES, "missing": "publish", "not_sensitive": [MISSING]}
    assert contract_of("intervals", sensitive=may_be_known).sensitive.not_sensitive == (MISSING,)


class TestContracts:
    @pytest.mark.parametrize(
        "sensitive",
        [
            {"values": VALUES},
            {"kind": "number", "bins": [0, 10, 20, 30]},
            {"hierarchy": [["flu", "lung", "any"], ["gout", "joint", "any"], ["x", "y", "any"]], "level": 1},
            {},
        ],
        ids=str,
    )
    def test_a_contract_that_is_written_and_read_again_is_the_same(self, sensitive):
        contract = contract_of("intervals", sensitive={**sensitive, "missing": "publish"})
        again = parse_contract(contract.model_dump(mode="json", exclude_none=True))
        assert again == contract
        values = again.sensitive.values or (MISSING,)
        assert values == (*again.sensitive.in_source, MISSING)

    @pytest.mark.parametrize(
        ("column", "said"),
        [
            ({"name": "sex", "kind": "category", "order": ["F", MISSING]}, "is a label of sex"),
            (
                {"name": "town", "kind": "category", "hierarchy": [["Bari", MISSING, "any"]]},
                "is a label of town",
            ),
        ],
    )
    def test_no_label_is_called_so(self, column, said):
        with pytest.raises(ContractError, match=said):
            contract_of("intervals", [{**column, "missing": "publish"}])
        contract_of("intervals", [{**column, "missing": "leave_out"}])

    def test_no_value_is_listed_so(self):
        with pytest.raises(ContractError, match="which missing: publish adds"):
            contract_of("intervals", sensitive={"values": [MISSING, *VALUES], "missing": "publish"})

    @pytest.mark.parametrize(
        ("before", "after", "verdict"),
        [
            ("refuse", "leave_out", "safe"),
            ("leave_out", "refuse", "safe"),
            ("refuse", "publish", "consent"),
            ("publish", "leave_out", "consent"),
        ],
    )
    def test_a_change_of_a_quasi_identifier(self, before, after, verdict):
        was, now = (contract_of("intervals", [{**COLUMNS[0], "missing": rule}]) for rule in (before, after))
        (change,) = column_changes(declared_columns(was), now)
        assert (change.name, change.verdict) == ("age.missing", verdict)

    def test_a_change_of_a_sensitive_column_is_for_consent(self):
        was, now = (contract_of("intervals", sensitive={"missing": rule}) for rule in ("refuse", "leave_out"))
        (change,) = column_changes(declared_columns(was), now)
        assert (change.name, change.verdict) == ("disease.missing", "consent")


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("principle", PRINCIPLES)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32),
    people=st.integers(14, 60),
    lacking=st.sampled_from([0.0, 0.05, 0.4, 0.95]),
    linked=st.booleans(),
)
def test_what_is_published_covers_everybody_and_the_audit_accepts_it(
    principle, seed, people, lacking, linked
):
    contract, rng = contract_of(principle), np.random.default_rng(seed)

    def made():
        state = State.empty()
        for number in range(1, 2 if principle in ("rda", "gda", "ria") else 4):
            table = drawn(rng, people, lacking)
            if number > 1:  # some have left, and others came
                table = table.with_columns(person=pl.lit("p" if number == 2 else "q") + pl.col("person"))
            try:
                known, candidate = released(table, contract, number, state)
            except NotEligible:
                return
            covers_everybody(known, candidate, contract)
            yield contract, known, candidate
            state = candidate.state

    assert not [row for found in attack_releases(made(), linked=linked) for row in broken(found)]


@cache
def some_mixed(principle):
    """A release, of which some groups mix people with an age and without; an attack acquits it."""
    contract = contract_of(principle)
    people, candidate = released(drawn(np.random.default_rng(7), 60, 0.3), contract)
    assert broken(attacked((contract, people, candidate))) == []
    return contract, people, candidate, candidate.published["microdata"]


def with_groups(candidate, rows, where, **changes):
    """The release with other entries in some groups."""
    tables = dict(candidate.published)
    tables["microdata"] = rows.with_columns(
        pl.when(where).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in changes.items()
    )
    return replace(candidate, published=tables)


PARTLY = (pl.col("age_missing") > 0) & pl.col("age_low").is_not_null()


IMPOSSIBLE = (
    {"age_low": None},
    {"age_low": None, "age_high": None, "age_missing": 0},
    {"age_missing": -1},
    {"age_missing": None},
    {"age_missing": 1000},
    {"sex_low": "(nobody)"},
)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("principle", ["intervals", "ever had", "gda"])
def test_a_release_that_says_otherwise_is_found(principle):
    """Another count of people without a value, an interval that leaves out somebody, an impossible entry."""
    contract, people, candidate, rows = some_mixed(principle)
    assert broken(attacked((contract, people, candidate), linked=False)) == []

    def found(group, *, linked=True, **changes):
        lying = with_groups(candidate, rows, pl.col("group_id") == group, **changes)
        return broken(attacked((contract, people, lying), linked=linked))

    for claimed in (0, 2):
        wrong = rows.filter(PARTLY, pl.col("age_missing") != claimed)["group_id"].first()
        assert "hosting groups" in found(wrong, age_missing=claimed)
        assert "counts" in found(wrong, linked=False, age_missing=claimed)
    narrower = rows.filter(pl.col("age_low") < pl.col("age_high")).row(0, named=True)
    assert found(narrower["group_id"], age_low=narrower["age_high"]) != []
    for changes in IMPOSSIBLE:
        assert "published entries" in found(rows.filter(PARTLY)["group_id"].first(), **changes)


JOB = {"name": "job", "kind": "category", "hierarchy": JOBS, "missing": "publish"}
SEX = {"name": "sex", "kind": "category", "order": ["F", "M"], "missing": "publish"}
TOWN = {"name": "town", "kind": "category", "order": ["Bari", "Oslo"], "missing": "publish", "keep": True}


def view_of(number, table, contract, state):
    people = settled(table, contract)
    release = principle_of(contract).release
    return people, release(people.drop(IDENTIFIER), contract, state, number, draws(number))


@settings(max_examples=6)
@given(seed=st.integers(0, 2**32), people=st.integers(4, 40), k=st.integers(2, 4))
def test_a_view_has_missing_labels_as_a_branch_of_their_own(seed, people, k):
    rng, views, state = np.random.default_rng(seed), [], State.empty()
    table = pl.DataFrame({"pid": [f"p{n}" for n in range(people)]}).with_columns(
        pl.Series(
            name, [[*labels, None][n] for n in rng.integers(0, len(labels) + 1, people)], dtype=pl.String
        )
        for name, labels in (
            ("job", [path[0] for path in JOBS]),
            ("sex", ["F", "M"]),
            ("town", ["Bari", "Oslo"]),
        )
    )
    contract = view_contract([JOB, SEX, TOWN], x=["job", "sex"], y=["pid"], k=k)
    for number in (1, 2):
        known, candidate = view_of(number, table, contract, state)
        found = attack_view(candidate, known, contract, views=views)
        assert broken(found) == []
        view = candidate.published["view"]
        nodes = {label for column in ("job", "sex") for path in paths_of(contract, column) for label in path}
        assert set(view["job"]) | set(view["sex"]) <= nodes
        assert view["town"].sort().to_list() == table["town"].fill_null(MISSING).sort().to_list()
        views, state = [*views, view], candidate.state


def paths_of(contract, name):
    return next(column.paths for column in contract.columns if column.name == name)


def test_of_enough_people_without_a_job_a_view_says_so():
    rows = [("p" + str(n), None if n < 30 else "Banker") for n in range(60)]
    table = pl.DataFrame(rows, schema={"pid": pl.String, "job": pl.String}, orient="row")
    contract = view_contract([JOB], x=["job"], y=["pid"], k=5)
    _, candidate = view_of(1, table, contract, State.empty())
    assert candidate.published["view"]["job"].value_counts(sort=True)["job"].sort().to_list() == [
        MISSING,
        "Banker",
    ]


def test_a_number_of_a_view_cannot_be_published_as_missing():
    age = {"name": "age", "kind": "number", "domain": [0, 99], "missing": "publish"}
    with pytest.raises(ContractError, match="choose leave_out, or make the column a category of ranges"):
        view_contract([age], x=["age"], y=["pid"])
