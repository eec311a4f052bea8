"""Values are dealt out within groups by what was learned of all: as likely, and with the sums learned."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from republish.anonymize.learning.associations import Associations, Groups
from republish.anonymize.learning.imputed import dealings
from republish.anonymize.learning.logit import Columns
from republish.orchestration.readers.associations import learned_of
from tests.anonymize.learning.test_associations import VALUES, released

LOGS = np.array([[0.0, 1.0, -0.5], [0.7, 0.0, 0.2], [-1.0, 0.4, 0.9], [0.3, -0.6, 0.0]])


def groups_of_two_tables(copies):
    """As many groups of the same four people, who have the values 0, 0, 1, 2, and of one who has 1."""
    held = pl.DataFrame({"at": [0, 1, 2, 1], "tuples": [2, 1, 1, 1], "share": [0.5, 0.25, 0.25, 1.0]})
    number = pl.DataFrame({"group": [0, 0, 0, 1]})
    parts = [pl.concat([number + 2 * at, held], how="horizontal") for at in range(copies)]
    group = np.repeat(np.arange(2 * copies), np.tile([4, 1], copies))
    return Groups(pl.DataFrame({"qi_0": np.zeros(len(group))}), group, pl.concat(parts))


def test_every_dealing_of_a_group_is_as_likely_as_its_weight():
    copies = 6000
    groups = groups_of_two_tables(copies)
    logs = np.tile(np.vstack([LOGS, np.zeros((1, 3))]), (copies, 1))
    rows = groups.deal(logs, np.random.default_rng(1)).reshape(copies, 5)
    assert (rows[:, 4] == 1).all()
    ways = sorted(set(itertools.permutations([0, 0, 1, 2])))
    weight = np.array([np.exp(sum(LOGS[at, value] for at, value in enumerate(way))) for way in ways])
    counted = np.array([(rows[:, :4] == way).all(axis=1).sum() for way in ways])
    assert counted.sum() == copies
    expected = copies * weight / weight.sum()
    assert ((counted - expected) ** 2 / expected).sum() < 35  # chi square of 11 degrees: once in 5,000
    turned = copies * weight[::-1] / weight.sum()
    assert ((counted - turned) ** 2 / turned).sum() > 500


@pytest.fixture(scope="module")
def learned():
    """What is learned of a release, its contract, and the true slopes on age."""
    contract, tables, true = released()
    return learned_of(tables, contract, ["age"], np.random.default_rng(1)), contract, true


@pytest.mark.slow("makes many releases")
def test_tables_keep_what_goes_with_what_where_a_dealing_by_lot_does_not(learned):
    found, contract, true = learned
    age = found.groups.codes["qi_0"].to_numpy() - found.groups.codes["qi_0"].mean()

    def slopes(dealt):
        each = [age @ np.eye(len(VALUES))[one] / (age @ age) for one in itertools.islice(dealt, 16)]
        return np.array(each)

    random = np.random.default_rng(2)
    dealt = list(itertools.islice(found.dealings(contract, random), 16))
    counted = pl.DataFrame({"group": found.groups.group, "at": dealt[0]}).group_by("group", "at")
    held = found.groups.held.select("group", "at", "tuples")
    assert counted.agg(tuples=pl.len().cast(pl.Int64)).sort("group", "at").equals(held)
    assert found.columns_told() == found.columns_told(dealt) == ["age"]
    little, figures = found.found, np.abs(found.found.found)
    little = replace(little, half_width=np.ones_like(figures) * figures.max(), greatest=1e9 * figures)
    assert little.told(found.many).any()  # that no more than so little goes with age
    assert replace(found, found=little).columns_told() == []
    assert (found.said("value").little, replace(found, found=little).said("value").little) == ([], ["age"])
    by_model = slopes(dealt)
    lots = [found.groups.deal(np.zeros((1500, len(VALUES))), random) for _ in range(16)]
    assert found.columns_told(lots) == []
    by_lot = slopes(lots)
    assert (by_lot.mean(axis=0) * true).sum() / (true**2).sum() < 0.8
    assert (by_model.mean(axis=0) * true).sum() / (true**2).sum() == pytest.approx(1, abs=0.08)
    certain = replace(found.found, errors=np.zeros(found.found.errors.shape))
    by_certain_model = slopes(replace(found, found=certain).dealings(contract, random))
    # Tables differ by how far what was learned may be off, too.
    assert (by_model.std(axis=0) > 1.5 * by_certain_model.std(axis=0)).all()


@pytest.mark.slow("takes more than a second")
def test_tables_keep_what_was_learned_though_it_may_be_far_off(learned):
    """What is less certain is not weaker: tables differ more, and have the same slopes on average."""
    found, contract, _ = learned
    columns = Columns.of(found.groups.codes, contract.attributes()).of_people(found.groups.codes)
    errors = np.zeros((1, *found.found.sums.shape))
    errors[:, 1] = 0.4 * found.found.sums[1]  # age; the constant is column 0
    uncertain = replace(found, found=replace(found.found, errors=errors))
    dealt = itertools.islice(uncertain.dealings(contract, np.random.default_rng(2)), 16)
    sums = np.array([columns[:, 1] @ np.eye(len(VALUES))[one] for one in dealt])
    learned_sums = found.found.sums[1]
    kept = (sums @ learned_sums) / (learned_sums @ learned_sums)
    assert 0.87 < kept.mean() < 1.1  # where an error takes sums beyond what groups have, a part is lost


def test_sums_that_no_dealing_has_are_not_forced():
    groups = groups_of_two_tables(100)
    columns = np.column_stack([np.ones(500), np.tile([-1.0, 0, 1, 2, 0], 100)])
    sums = np.zeros((2, 3))
    sums[1] = [1e4, 0, -1e4]  # beyond what there is: 300 at most
    figures = dict.fromkeys(("found", "half_width", "greatest", "shown", "sums"), sums)
    asked = Associations(**figures, misfit=1.0, releases=1, errors=np.full((1, 2, 3), 30.0))
    certain = replace(asked, errors=np.zeros((1, 2, 3)))
    for one in (asked, certain):
        values = next(dealings(groups, columns, np.ones(500, bool), one, np.random.default_rng(1)))
        assert np.bincount(values).tolist() == [200, 200, 100]
        assert columns[values == 0, 1].mean() > columns[values == 2, 1].mean()
