"""Releases at the edges: nobody, one person, too few values, other types, other parameters."""

from collections import defaultdict

import polars as pl
import pytest

from republish.anonymize.errors import NotEligible, SnapshotError, ValueChangeRefused
from republish.anonymize.m_invariance.release import release
from republish.anonymize.principle.state import State
from tests.series import Table, draws, make, make_contract, publish

AGES_ONLY = {"person": pl.String, "age": pl.Int64, "value": pl.String}


def crowd(values, first=1, age=30):
    """People with these values: person 1, person 2, … from `first` on, each a year older than the last."""
    rows = [(f"person {first + i}", age + i % 90, value) for i, value in enumerate(values)]
    return pl.DataFrame(rows, schema=AGES_ONLY, orient="row")


def series(*snapshots, contracts=None, **parameters):
    contracts = contracts or [make_contract(["age"], **parameters)] * len(snapshots)
    return publish(Table(contracts, list(snapshots)))


def signatures(candidate):
    """person -> signature, from what is published and the linkage."""
    values = defaultdict(list)
    for group, *_, value in candidate.published["microdata"].rows():
        values[group].append(value)
    return {person: values[group] for person, _, group in candidate.linkage.rows()}


# Few people or none


def test_a_first_release_of_nobody_is_an_empty_table():
    (only,) = series(crowd([]), m=2)
    assert only.candidate.published["microdata"].schema == {
        "group_id": pl.Int64,
        "age_low": pl.Int64,
        "age_high": pl.Int64,
        "value": pl.String,
    }
    assert (
        only.candidate.published["microdata"].height == only.candidate.published["counterfeits"].height == 0
    )
    assert set(only.candidate.figures.as_json().values()) == {0}


@pytest.mark.parametrize("policy", ["refuse", "counterfeit", "wait"])
def test_when_nobody_is_left_the_table_is_empty_and_signatures_are_remembered(policy):
    people = crowd("abab")
    first, empty, again = series(people, people[:0], people, m=2, on_ineligible=policy)
    assert empty.candidate.published["microdata"].height == 0
    assert empty.candidate.state.tables["memory"].equals(first.candidate.state.tables["memory"])
    assert again.candidate.figures.returned == again.candidate.figures.carried == 4
    assert signatures(again.candidate) == signatures(first.candidate)


def test_with_no_deletions_no_counterfeit_is_needed():
    first, second = series(crowd("abab"), crowd("ababab"), m=2)
    assert (first.candidate.figures.counterfeits, second.candidate.figures.counterfeits) == (0, 0)


def test_one_person_is_refused_with_the_counts_and_the_way_out():
    (only,) = series(crowd("a"), values="abcd", m=3)
    with pytest.raises(
        NotEligible, match=r"the 1 inserted people are not 3-eligible: 1 .* Release less often, .* no m is"
    ):
        raise only.refusal


def test_who_is_refused_is_told_the_largest_m_that_would_do():
    (only,) = series(crowd("aaabbbcd"), m=3)
    with pytest.raises(NotEligible, match=r"3 of them .* or choose m: 2, the largest"):
        raise only.refusal


def test_one_person_is_published_among_m_minus_1_counterfeits():
    (only,) = series(crowd("a"), values="abcd", m=3, on_ineligible="counterfeit")
    assert only.candidate.published["counterfeits"].rows() == [(1, 2)]
    assert "a" in only.candidate.published["microdata"]["value"]
    assert only.candidate.published["microdata"]["value"].n_unique() == 3


def test_people_who_all_have_the_same_value():
    refused, fake, waiting = (
        series(crowd("aaaa"), values="abcd", m=3, on_ineligible=policy)[0]
        for policy in ("refuse", "counterfeit", "wait")
    )
    assert isinstance(refused.refusal, NotEligible)
    assert fake.candidate.figures.counterfeits == 8
    assert fake.candidate.published["counterfeits"]["count"].to_list() == [2, 2, 2, 2]
    assert waiting.candidate.figures.held_back == 4


def test_what_a_refusal_leaves_is_the_state_before():
    people = crowd("abab")
    first, refused, third = series(people, crowd("ababaa"), people, m=2)
    assert isinstance(refused.refusal, NotEligible)
    assert third.number == 2
    assert third.before is first.candidate.state


# Few values


@pytest.mark.parametrize(("policy", "refused"), [("refuse", True), ("counterfeit", True), ("wait", False)])
def test_with_fewer_values_than_m_nobody_can_be_published(policy, refused):
    (only,) = series(crowd("abababab"), m=3, on_ineligible=policy)
    if refused:
        assert isinstance(only.refusal, NotEligible)
    else:
        assert only.candidate.figures.held_back == 8


def test_counterfeits_of_unknown_values_can_not_be_made_up():
    (only,) = series(crowd("aab"), m=3, on_ineligible="counterfeit")
    with pytest.raises(NotEligible, match="2 sensitive values are known, groups need 3: list the domain"):
        raise only.refusal


def test_a_huge_m_is_met_if_there_are_values_enough():
    values = [f"value {i:03}" for i in range(300)]
    (only,) = series(crowd(["value 007"]), values=values, m=300, on_ineligible="counterfeit")
    assert only.candidate.figures.counterfeits == 299
    assert only.candidate.published["microdata"]["value"].to_list() == values


# Changed values


def changing(*values, others=20, **parameters):
    """One person has these values, release after release, among others who keep theirs."""
    domain = "abcdefgh"
    company = crowd([domain[i % 8] for i in range(others)], first=2)
    snapshots = [pl.concat([crowd([value]), company]) for value in values]
    return series(*snapshots, values=domain, **{"m": 2, "on_ineligible": "counterfeit"} | parameters)


def test_a_value_within_the_signature_keeps_it():
    first = changing("a")[0]
    (other,) = set(signatures(first.candidate)["person 1"]) - {"a"}
    releases = changing("a", other, "a")
    assert len({str(signatures(each.candidate)["person 1"]) for each in releases}) == 1
    assert [each.candidate.figures.separated for each in releases] == [0, 0, 0]


def test_a_value_outside_gets_a_signature_disjoint_from_all_before_and_its_own_again():
    outside = sorted(set("abcdefgh") - set(signatures(changing("a")[0].candidate)["person 1"]))
    releases = changing("a", outside[0], "a", outside[0])
    one, two, three, four = (set(signatures(each.candidate)["person 1"]) for each in releases)
    assert not one & two
    assert one == three
    assert two == four
    assert [each.candidate.figures.separated for each in releases] == [0, 1, 0, 0]


def changed_to_the_last(policy, **parameters):
    """Of four values, three are in person 1's signature, and then they have the fourth."""
    tries = [
        series(
            pl.concat([crowd("a"), crowd("abcd" * 3, first=2)]),
            pl.concat([crowd([value]), crowd("abcd" * 3, first=2)]),
            values="abcd", m=3, on_ineligible=policy, **parameters,
        )
        for value in "bcd"
    ]  # fmt: skip
    (outside,) = set("abcd") - set(signatures(tries[0][0].candidate)["person 1"])
    return tries["bcd".index(outside)]


@pytest.mark.parametrize("policy", ["refuse", "wait", "counterfeit"])
def test_a_change_that_exhausts_the_domain_is_refused_whatever_becomes_of_batches(policy):
    """Held back alone, the person would be known to have one of the few values left."""
    _, refused = changed_to_the_last(policy)
    with pytest.raises(NotEligible, match=r"1 people changed .* fewer than m \(3\) values .* new series"):
        raise refused.refusal


def test_a_contract_may_refuse_changed_values():
    outside = sorted(set("abcdefgh") - set(signatures(changing("a")[0].candidate)["person 1"]))
    _, refused, _ = changing("a", outside[0], "a", on_value_change="refuse")
    with pytest.raises(ValueChangeRefused, match="1 people have a sensitive value outside their signature"):
        raise refused.refusal


# Quasi-identifiers


@pytest.mark.parametrize("number", [1, 8])
def test_one_quasi_identifier_or_eight(number):
    names = [{"name": f"q{i}", "kind": "number", "domain": [0, 5 + i], "min_width": 3} for i in range(number)]
    contract = make_contract(names, values="abcd", m=4)
    columns = {f"q{i}": [(row * (i + 3)) % (6 + i) for row in range(40)] for i in range(number)}
    people = pl.DataFrame({"person": [str(row) for row in range(40)], **columns, "value": list("abcd" * 10)})
    (only,) = publish(Table([contract], [people]))
    assert only.candidate.figures.groups == 10
    assert only.candidate.published["microdata"].width == 2 + 2 * number


# Types


def test_values_that_were_text_and_are_numbers_now_are_one_clear_error():
    (first,) = series(crowd("abab"), m=2)
    numbers = crowd("abab").with_columns(value=pl.Series([1, 2, 1, 2]))
    with pytest.raises(SnapshotError, match="value holds Int64, and String in the releases before"):
        make(release, numbers, first.contract, first.candidate.state, 2, draws(2))


def test_values_of_another_type_than_declared_are_one_clear_error():
    contract = make_contract(["age"], values=[1, 2, 3])
    with pytest.raises(SnapshotError, match=r"value holds String, and Int64 under sensitive\.values"):
        make(release, crowd("12"), contract, State.empty(), 1, draws(1))


@pytest.mark.parametrize(
    ("value", "message"),
    [("z", "1 people have a value that is not listed"), (None, "1 people have no value")],
)
def test_a_value_that_is_not_declared_is_not_a_new_one(value, message):
    contract = make_contract(["age"], values="ab")
    with pytest.raises(SnapshotError, match=message):
        make(release, crowd(["a", "b", value]), contract, State.empty(), 1, draws(1))


# Parameters that change


def test_with_a_larger_m_the_published_keep_their_signatures_and_new_people_get_larger_ones():
    small, large = (make_contract(["age"], values="abcdef", m=m) for m in (2, 4))
    first, second = series(
        crowd("abcdef"), pl.concat([crowd("abcdef"), crowd("abcdef", first=7)]), contracts=[small, large]
    )
    today = signatures(second.candidate)
    assert {person: today[person] for person in signatures(first.candidate)} == signatures(first.candidate)
    assert all(len(today[f"person {i}"]) >= 4 for i in range(7, 13))


def test_with_a_larger_m_shortages_in_small_buckets_are_filled_with_counterfeits_alone():
    small, large = (make_contract(["age"], values="ab", m=2), make_contract(["age"], values="abcd", m=4))
    _, second = series(crowd("ab"), pl.concat([crowd("a"), crowd("abcd", first=3)]), contracts=[small, large])
    assert sorted(len(signature) for signature in signatures(second.candidate).values()) == [2, 4, 4, 4, 4]
    assert second.candidate.figures.counterfeits == 1


def test_with_a_smaller_m_new_people_get_smaller_signatures():
    contracts = [make_contract(["age"], values="abcd", m=m) for m in (4, 2)]
    _, second = series(crowd("abcd"), pl.concat([crowd("abcd"), crowd("ab", first=5)]), contracts=contracts)
    assert {len(signature) for signature in signatures(second.candidate).values()} == {2, 4}


# Secrets


def test_another_key_makes_other_groups_of_people_who_are_alike():
    people = crowd("ab" * 20).with_columns(age=pl.lit(50, pl.Int64))
    contract = make_contract(["age"], m=2)
    one, again, other = (
        publish(Table([contract], [people]), key=key)[0].candidate for key in (b"one", b"one", b"other")
    )
    assert one.linkage.equals(again.linkage)
    assert not one.linkage.equals(other.linkage)


def test_no_identifier_or_pseudonym_is_in_anything_published():
    (only,) = series(crowd("abab"), m=2)
    for frame in only.candidate.published.values():
        assert not {"person", "pseudonym", "bucket_id"} & set(frame.columns)
        assert "person 1" not in str(frame.rows())
