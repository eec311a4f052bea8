"""Where the quasi-identifiers of counterfeits come from under e-equivalence, and when they are replaced."""

import polars as pl
import pytest

from republish.anonymize.contract import CategoryAttribute
from tests import findings as fi
from tests.anonymize.e_equivalence.equivalence_series import Life, attack_each, contract, publish

VECTOR = ["qi_0", "qi_1"]


def counterfeits(one):
    return one.candidate.state.tables["counterfeits"]


def new_counterfeits(made):
    """Each release's own counterfeits beside the people of their buckets."""
    for number, one in enumerate(made, start=1):
        people = one.people.join(one.candidate.linkage, on="pseudonym")
        yield counterfeits(one).filter(pl.col("node") == number), people


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("seed", range(4))
def test_a_counterfeit_looks_like_a_person_of_its_own_bucket(seed):
    found = 0
    for forged, people in new_counterfeits(publish(Life(seed, churn=0.3).snapshots(), contract(e=4))):
        found += forged.height
        alike = people.select("bucket_id", *VECTOR)
        assert forged.join(alike, on=["bucket_id", *VECTOR], how="anti").is_empty()
    assert found > 20


def without_label(declared, label):
    """The same contract with one label fewer."""
    attributes = tuple(
        qi.model_copy(update={"order": tuple(name for name in qi.labels if name != label)})
        if isinstance(qi, CategoryAttribute)
        else qi
        for qi in declared.quasi_identifiers
    )
    return declared.model_copy(update={"quasi_identifiers": attributes})


def with_three_sexes():
    declared = contract(e=4)
    attributes = tuple(
        qi.model_copy(update={"order": ("F", "M", "X")}) if isinstance(qi, CategoryAttribute) else qi
        for qi in declared.quasi_identifiers
    )
    return declared.model_copy(update={"quasi_identifiers": attributes})


def test_a_label_that_the_contract_has_dropped_is_on_no_counterfeit():
    declared = with_three_sexes()
    first, second, *_ = Life(3, people=30, churn=0.05).snapshots()
    first = first.with_columns(
        sex=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("X")).otherwise("sex")
    )
    second = second.with_columns(sex=pl.col("sex").replace("X", "F"))
    kept = publish([first, first], [declared, declared])
    assert "X" in set(counterfeits(kept[1])["qi_1"])  # as long as it is a label, it stays
    for later in (first.with_columns(sex=pl.lit("F")), second):
        made = publish([first, later], [declared, without_label(declared, "X")])
        assert made[1].candidate.figures.counterfeits
        assert "X" not in set(made[1].candidate.published["quasi_identifiers"]["sex"])
        assert not [one for one in attack_each(made) if not one.holds]


def test_buckets_whose_people_are_unlike_all_others_do_not_give_counterfeits_away():
    """Of old people with some diseases and young ones with others, every bucket has one kind."""
    snapshot = pl.DataFrame(
        {
            "patient": [f"p{n:03d}" for n in range(240)],
            "age": [n % 20 + (70 if n % 2 else 10) for n in range(240)],
            "sex": ["F", "M", "M"] * 80,
            "disease": [f"disease {'abc'[n // 2 % 3] if n % 2 else 'def'[n // 2 % 3]}" for n in range(240)],
        }
    )
    gone = snapshot.filter(pl.int_range(pl.len()) % 7 != 3)
    made = publish([snapshot, gone], contract(m=3, e=20))
    assert made[1].candidate.figures.counterfeits > 40
    for found in attack_each(made):
        hidden = found.findings.filter(pl.col("promise") == fi.COUNTERFEITS)
        assert hidden["holds"].all()
