"""Associations from a release alone: what groups hide is found by simulating releases, or not told."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from republish.anonymize.columns import VALUE
from republish.anonymize.errors import QueryError
from republish.anonymize.formats import ANATOMY
from republish.anonymize.learning import associations
from republish.anonymize.learning.associations import (
    APART,
    MOST_MISFIT,
    NARROW,
    NEAR,
    UNFORESEEN,
    Asked,
    Associations,
    _beyond_totals,
    _corrected,
    _kept,
    _misfit,
    _Seen,
    _shown,
    _with_totals,
)
from republish.anonymize.learning.logit import fit, fit_sums, log_odds, log_probabilities
from republish.anonymize.m_invariance import M_INVARIANCE
from republish.anonymize.people.codes import encode_columns
from republish.anonymize.principle.state import State
from republish.orchestration.readers.associations import groups_of, of_tables
from tests.series import draws, entered, make_contract

pytestmark = pytest.mark.slow("measures over many simulated tables")

VALUES = ["angina", "asthma", "flu", "gout", "mumps", "scurvy"]


def released(people=1500, steep=1.0, seed=1):
    """A contract, a release's tables, and the true slopes on age by value."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 120, people)
    odds = np.outer((age - 60) / 35, steep * np.linspace(-1, 1, len(VALUES)))
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    value = (random.random((people, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(0, len(VALUES) - 1)
    zipcode = 10_000 + random.permutation(people)
    table = pl.DataFrame(
        {"person": [f"p{i}" for i in range(people)], "age": age, "zipcode": zipcode}
    ).with_columns(pl.Series("value", np.array(VALUES)[value]))
    contract = make_contract(values=VALUES, m=3, format="anatomy")
    made = M_INVARIANCE.release(entered(table, contract), contract, State.empty(), 1, draws(1))
    has = np.eye(len(VALUES))[value]
    centred = age - age.mean()
    return contract, ANATOMY.internal(made.published, contract), centred @ has / (centred @ centred)


def test_slopes_are_told_within_their_error_where_groups_by_themselves_hide_a_part_of_them():
    contract, tables, true = released()
    found = of_tables(tables, contract, ["age"])
    slopes = found.rows.filter(measure="slope")
    assert slopes["value"].to_list() == VALUES
    assert slopes["estimate"].null_count() <= 2
    told = slopes.with_columns(true=true).drop_nulls("estimate")
    estimate, truth = told["estimate"].to_numpy(), told["true"].to_numpy()
    assert (estimate * truth).sum() / (truth**2).sum() == pytest.approx(1, abs=0.15)
    assert ((told["low"] <= told["true"]) & (told["true"] <= told["high"])).mean() >= 0.8
    groups = groups_of(tables, contract, pl.Series(VALUES))
    by_group = groups.posterior(np.zeros((len(groups.group), len(VALUES))), 1.0)
    age = groups.codes["qi_0"].to_numpy() - groups.codes["qi_0"].mean()
    dealt = age @ by_group / (age @ age)
    assert (dealt * true).sum() / (true**2).sum() < 0.8


def test_the_same_seed_gives_the_same_answer():
    contract, tables, _ = released(120)
    first, again = (of_tables(tables, contract, ["age"], seed=2) for _ in range(2))
    assert first.rows.equals(again.rows)


def test_models_whose_differences_leave_no_trace_in_groups_cannot_be_told():
    random = np.random.default_rng(1)
    true = random.normal(size=(24, 1, 2))
    traces = np.stack([true, true, true], axis=1) + 0.01 * random.normal(size=(24, 3, 1, 2))
    traces[..., 1] = random.normal(size=(24, 3, 1))
    ((shown, hidden),) = _shown(traces, true)
    assert shown > 0.99
    assert hidden < 0.5


@pytest.mark.parametrize(("share", "power"), [(0.25, 1.0), (1.0, 1.5), (0.9, 1.0)])
def test_what_is_true_is_found_though_groups_show_little_of_it(share, power):
    """Whether they show a constant part of it, or less of weak associations than of strong ones."""
    true = np.array([[-0.3, 0.1, 0.2]])

    def seen_of(true):
        return np.sign(true) * share * np.abs(true) ** power

    found = seen_of(true)
    for _ in NEAR:
        made = np.stack([found, found])
        found, _ = _corrected(seen_of(true), seen_of(made), made, _kept(seen_of(made), made), 1.0)
    assert (found * true).sum() / (true**2).sum() == pytest.approx(1, abs=0.1)


def test_sums_of_values_that_go_with_nothing_show_nothing():
    """A label that half of the people have, half of the people with each value have."""
    sums = np.array([[[100.0, 20.0, 80.0], [50.0, 10.0, 40.0], [60.0, 5.0, 35.0]]])
    assert _beyond_totals(sums) == pytest.approx(np.array([[[0, 0, 0], [0, 0, 0], [10, -5, -5.0]]]))


def test_nothing_is_told_of_a_column_whose_differences_may_be_errors():
    """Nor of a value that few people have, or whose differences groups do not show."""
    found = np.array([[-0.3, 0.1, 0.2, 9.0], [-0.3, 0.1, 0.2, 9.0]])
    shown = np.array([[0.99, 0.99, 0.8, 0.99]] * 2)
    half_width = np.array([[0.1] * 4, [0.2] * 4])
    nothing, greatest = np.zeros((0, 0)), np.ones((2, 4))
    made = Associations(found, half_width, greatest, shown, 1.0, 40, nothing, nothing)
    many = np.array([True, True, True, False])
    assert made.told(many).tolist() == [[True, True, False, False], [False] * 4]
    assert not made.told(np.zeros(4, bool)).any()


def test_that_values_go_with_nothing_is_told_where_errors_are_small():
    """Beside what there could be: a column that goes with one value alone."""
    random = np.random.default_rng(1)
    age, ill = random.integers(0, 120, 4000), random.random(4000) < 0.2
    contract = make_contract(values=["ill", "well"])
    codes = pl.DataFrame({"qi_0": age, "qi_1": age})
    asked = Asked.of(codes, list(contract.attributes())[:1])
    assert [measure for _, measure, _, _ in asked.figures] == ["slope", "mean"]
    has = np.column_stack([ill, ~ill]).astype(float)
    greatest = asked.greatest(codes, has.sum(axis=0).astype(np.int64))
    correlation = np.corrcoef(age, ill)[0, 1]
    found = asked.of_people(codes, has) - [[0.0], [age.mean()]]
    assert found == pytest.approx(greatest * correlation * [[1, -1], [1, -1]])
    nothing = np.zeros((0, 0))
    made = Associations(found, 0.9 * NARROW * greatest, greatest, np.ones((2, 2)), 1.0, 40, nothing, nothing)
    assert made.told(np.ones(2, bool)).all()
    wide = replace(made, half_width=1.1 * NARROW * greatest)
    assert not wide.told(np.ones(2, bool)).any()
    assert not made.told(np.ones(2, bool), narrow=0).any()  # tables must have differences, to be kept


def test_intervals_are_wider_the_less_groups_are_as_wide_as_simulated_ones():
    """Corrections see sums alone, so that nothing makes widths fit."""
    contract, tables, _ = released(300)
    groups = groups_of(tables, contract, pl.Series(VALUES))
    columns = np.column_stack([np.ones(300), np.arange(300.0)])
    own = [columns[groups.group == one, 1] for one in np.unique(groups.group)]
    assert groups.widths(columns) == pytest.approx([0, sum(((one - one.mean()) ** 2).sum() for one in own)])

    def seen(*widths):
        return _Seen(np.zeros((3, 1, 2)), np.zeros((3, 2)), np.array([0.0, *widths]))

    simulated = [seen(100 + far, 50) for far in (-3, 0, 3)]
    fits, wider, most = (_misfit(seen(width, 50.5), simulated) for width in (103, 106, 118))
    assert (fits, wider, most) == pytest.approx(np.sqrt([1.25 / 2, 4.25 / 2, 36.25 / 2]))
    random = np.random.default_rng(1)
    of, true = random.normal(size=(2, 16, 1, 3))
    errors = [_corrected(of[0], of, true, np.ones((1, 1)), misfit)[1] for misfit in (fits, wider, most)]
    assert errors[1] == pytest.approx(wider * errors[0])
    assert errors[2] == pytest.approx(MOST_MISFIT * errors[0])
    # What one more release would differ by, and the mean of those that there are.
    spread = UNFORESEEN * (of - true).std(axis=0, ddof=1) * np.sqrt(1 + 1 / 16)
    assert np.sqrt((errors[0] ** 2).sum(axis=0)) == pytest.approx(spread)


def test_people_of_a_region_have_the_values_of_its_people_in_simulated_releases():
    """Only then the same values meet in groups: which do depends on how many people of a region have each."""
    contract, tables, _ = released()
    groups, drawn, attributes = (
        groups_of(tables, contract, pl.Series(VALUES)),
        [],
        list(contract.attributes()),
    )
    region = (groups.codes["qi_0"].to_numpy() > 60).astype(np.int64)

    def publish(values, _random):
        drawn.append(np.bincount(values[region == 1], minlength=len(VALUES)))
        return groups

    asked, everybody = Asked.of(groups.codes, attributes[:1]), np.ones(len(region), bool)
    totals = np.bincount(groups.held["at"], groups.held["tuples"], len(VALUES)).astype(np.int64)
    associations.associations(
        groups, everybody, region, totals, attributes, asked, publish, np.random.default_rng(1)
    )
    near = np.std(drawn[APART:], axis=0)
    assert (near < np.sqrt(totals) / 4).all()  # drawn from everybody, it would be about half of the root


def test_as_many_people_have_each_value_as_are_published():
    random = np.random.default_rng(1)
    odds = random.normal(size=(500, 4)) * 3
    totals = np.array([200, 200, 99, 1])
    drawn = _with_totals(odds, totals, random)
    assert np.bincount(drawn, minlength=4).tolist() == totals.tolist()
    likelier = odds - odds.mean(axis=1, keepdims=True)
    assert likelier[np.arange(500), drawn].mean() > 1


def test_a_regression_needs_no_more_of_the_values_than_sums():
    random = np.random.default_rng(1)
    columns = np.column_stack([np.ones(200), random.normal(size=(200, 2))])
    weight = random.dirichlet(np.ones(3), 200)
    by_people = fit(columns, weight)
    by_sums = fit_sums(columns, np.ones(200), columns.T @ weight, by_people)
    assert by_sums == pytest.approx(by_people, abs=1e-3)


def test_values_that_nobody_has_are_found_as_if_each_were_by_itself():
    rng = np.random.default_rng(1)
    columns = np.column_stack([np.ones(200), rng.normal(size=(200, 2))])
    weight = np.zeros((200, 9))
    weight[:, [1, 4, 5]] = np.eye(3)[rng.integers(0, 3, 200)]
    found, each = fit(columns, weight), fit_sums(columns, np.ones(200), columns.T @ weight)
    assert found == pytest.approx(each, abs=1e-4)
    assert (found[:, [0, 2, 3, 6, 7]] == found[:, [8]]).all()
    everybody, value = np.arange(200), np.arange(200) % 9
    odds = log_odds(columns, found, everybody, value) - log_odds(columns, found, everybody, 0 * value)
    likely = log_probabilities(columns, found)
    assert odds == pytest.approx(likely[everybody, value] - likely[:, 0])


def test_people_and_values_are_read_from_both_tables():
    contract, tables, _ = released(300)
    groups = groups_of(tables, contract, pl.Series(VALUE, VALUES))
    assert groups.codes.equals(encode_columns(tables["quasi_identifiers"], contract))
    assert groups.held["tuples"].sum() == len(groups.group) == 300


def test_any_name_of_the_sensitive_column_is_told_from_those_of_figures(monkeypatch):
    monkeypatch.setattr(associations, "APART", 15)
    monkeypatch.setattr(associations, "NEAR", (2,))
    contract, tables, _ = released(300)
    named = contract.sensitive.model_copy(update={"name": "column"})
    found = of_tables(tables, contract.model_copy(update={"sensitive": named}), ["age"])
    assert found.rows.columns == ["column_1", "column", "measure", "label", "estimate", "low", "high"]


def test_figures_are_those_of_least_squares_dates_by_the_year_and_labels_by_the_most_frequent():
    random = np.random.default_rng(1)
    born, sex = random.integers(0, 9000, 400), (random.random(400) < 0.3).astype(int)
    declared = [
        {"name": "born", "kind": "date", "domain": ["1970-01-01", "2000-01-01"]},
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
    ]
    contract = make_contract(values=["ill", "well"], quasi_identifiers=declared)
    codes = pl.DataFrame({"qi_0": born, "qi_1": sex})
    asked = Asked.of(codes, list(contract.attributes()))
    assert asked.figures == [(0, "slope", None, None), (1, "difference", 1, 0)]
    ill = (born / 9000 + 0.2 * sex + random.normal(0, 0.3, 400) > 0.6).astype(float)
    found = asked.of_people(codes, np.column_stack([ill, 1 - ill]))
    design = np.column_stack([np.ones(400), born / 365.25, sex])
    assert found[:, 0] == pytest.approx(np.linalg.lstsq(design, ill, rcond=None)[0][1:])
    assert found[:, 1] == pytest.approx(-found[:, 0])
    women = codes.with_columns(qi_1=pl.lit(0))
    nothing = Asked.of(women, list(contract.attributes())[1:])  # a label that everybody has
    assert nothing.of_people(women, np.column_stack([ill, 1 - ill])).shape == (0, 2)


def test_a_column_that_some_people_lack_is_refused_by_its_name():
    contract, tables, _ = released(300)
    lacking = [one.model_copy(update={"missing": "publish"}) for one in contract.quasi_identifiers]
    contract = contract.model_copy(update={"quasi_identifiers": tuple(lacking)})
    rows = tables["quasi_identifiers"].with_columns(
        qi_0=pl.when(pl.int_range(pl.len()) > 0).then(pl.col("qi_0"))
    )
    with pytest.raises(QueryError, match="--on age: is missing"):
        of_tables(dict(tables) | {"quasi_identifiers": rows}, contract, ["age"])
