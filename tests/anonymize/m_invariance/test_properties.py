"""What is true of every series of m-invariant releases, counted by code that shares nothing with them."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings

from republish.anonymize.buckets.memory import Memory
from republish.anonymize.contract import CategoryAttribute
from republish.anonymize.principle.state import State
from tests.series import Release, Table, publish, tables


class Groups:
    """A published release in plain Python: group id -> box and values, person -> group id."""

    def __init__(self, release: Release):
        microdata = release.candidate.published["microdata"]
        self.attributes = release.contract.quasi_identifiers
        self.rows = microdata.rows()
        self.boxes, self.values = defaultdict(set), defaultdict(list)
        for group_id, *box, value in self.rows:
            self.boxes[group_id].add(tuple(box))
            self.values[group_id].append(value)
        self.counterfeits = dict(release.candidate.published["counterfeits"].rows())
        self.group_of = {person: group for person, _, group in release.candidate.linkage.rows()}
        self.bucket_of = {person: bucket for person, bucket, _ in release.candidate.linkage.rows()}
        self.hosted = Counter(self.group_of.values())

    def signature(self, person) -> frozenset:
        return frozenset(self.values[self.group_of[person]])

    def box(self, group_id) -> list[tuple]:
        """The interval of each attribute, as positions that can be compared."""
        (box,) = self.boxes[group_id]
        ends = list(zip(box[::2], box[1::2], strict=True))
        return [
            tuple(position(attribute, end) for end in interval)
            for attribute, interval in zip(self.attributes, ends, strict=True)
        ]


def position(attribute, value):
    return attribute.labels.index(value) if isinstance(attribute, CategoryAttribute) else value


def truth(release: Release) -> dict:
    """person -> (quasi-identifiers, value)."""
    columns = [column for column, _ in release.contract.attributes()]
    rows = release.people.select("identifier", *columns, "value").rows()
    return {person: (qis, value) for person, *qis, value in rows}


def memory(state: State) -> Memory:
    """What a release remembered: it is never the empty state, so no type is needed."""
    return Memory(people=state.tables["memory"], buckets=state.tables["buckets"])


def groups_cover_the_people_they_host(series):
    for release, groups in series:
        for person, (qis, value) in truth(release).items():
            if person not in groups.group_of:
                continue
            group = groups.group_of[person]
            assert value in groups.values[group]
            for attribute, code, (low, high) in zip(groups.attributes, qis, groups.box(group), strict=True):
                assert low <= position(attribute, code) <= high


def the_values_of_a_group_are_distinct_and_all_its_tuples_have_one_box(series):
    for _, groups in series:
        assert all(len(boxes) == 1 for boxes in groups.boxes.values())
        assert all(len(set(values)) == len(values) for values in groups.values.values())


def a_new_signature_has_at_least_m_values(series):
    seen = defaultdict(set)
    for release, groups in series:
        for person in groups.group_of:
            signature = groups.signature(person)
            if signature not in seen[person]:
                assert len(signature) >= release.contract.principle.m
            seen[person].add(signature)


def the_signatures_of_a_person_over_all_releases_are_equal_or_disjoint(series):
    seen = defaultdict(set)
    for _, groups in series:
        for person in groups.group_of:
            signature = groups.signature(person)
            assert all(signature == earlier or not signature & earlier for earlier in seen[person])
            seen[person].add(signature)


def a_value_that_stays_in_the_signature_keeps_it_after_any_absence(series):
    seen = defaultdict(set)
    for release, groups in series:
        for person, (_, value) in truth(release).items():
            if person in groups.group_of:
                kept = [signature for signature in seen[person] if value in signature]
                assert kept in ([], [groups.signature(person)])
                seen[person].add(groups.signature(person))


def rows_are_people_and_counterfeits_and_the_statistics_say_where(series):
    for release, groups in series:
        assert len(groups.rows) == len(groups.group_of) + sum(groups.counterfeits.values())
        counted = {group: len(values) - groups.hosted[group] for group, values in groups.values.items()}
        assert groups.counterfeits == {group: count for group, count in counted.items() if count}
        assert all(groups.hosted[group] >= 1 for group in groups.values)
        assert set(groups.group_of) <= set(truth(release))


def no_group_has_more_counterfeits_than_its_share_of_those_of_its_signature(series):
    for _, groups in series:
        shares = defaultdict(list)
        for group, values in groups.values.items():
            shares[frozenset(values)].append(groups.counterfeits.get(group, 0))
        for each in shares.values():
            assert max(each) == -(-sum(each) // len(each))


def published_tables_are_in_canonical_order(series):
    for release, groups in series:
        assert groups.rows == sorted(groups.rows)
        assert list(groups.values) == list(range(1, len(groups.values) + 1))
        content = [
            (*groups.boxes[group], groups.values[group], groups.counterfeits.get(group, 0))
            for group in groups.values
        ]
        assert content == sorted(content)
        counts = release.candidate.published["counterfeits"].rows()
        assert counts == sorted(counts)


def no_interval_is_narrower_than_promised_or_leaves_the_domain(series):
    for _, groups in series:
        for group in groups.values:
            for attribute, (low, high) in zip(groups.attributes, groups.box(group), strict=True):
                length = getattr(high - low, "days", high - low)
                assert length + attribute.discrete >= attribute.min_width
                if not isinstance(attribute, CategoryAttribute):
                    assert attribute.domain[0] <= low <= high <= attribute.domain[1]


def people_are_held_back_where_the_contract_says_so_and_remembered_nowhere(series):
    for release, groups in series:
        held_back = set(truth(release)) - set(groups.group_of)
        assert release.candidate.figures.held_back == len(held_back)
        today = dict(release.people.select("identifier", "pseudonym").rows())
        if release.contract.principle.on_ineligible == "wait":
            before = release.before.tables
            known = set(before["memory"]["pseudonym"]) if before else set()
            new = {person for person, pseudonym in today.items() if pseudonym not in known}
            assert held_back in (set(), new)
        else:
            assert not held_back
        remembered = memory(release.candidate.state).people.filter(last_release=release.number)["pseudonym"]
        assert not {today[person] for person in held_back} & set(remembered)


def the_state_remembers_every_signature_of_everybody_and_when(series):
    seen = {}
    for release, groups in series:
        pseudonym = dict(release.people.select("identifier", "pseudonym").rows())
        for person in groups.group_of:
            key = (pseudonym[person], groups.signature(person))
            first, _ = seen.get(key, (release.number, None))
            seen[key] = first, release.number
        state = memory(release.candidate.state)
        signatures = {bucket: frozenset(signature) for bucket, signature in state.buckets.rows()}
        assert list(signatures) == list(range(len(signatures)))
        assert len(set(signatures.values())) == len(signatures)
        assert {(p, signatures[bucket]): (a, z) for p, bucket, a, z in state.people.rows()} == seen
        assert len(seen) == len(state.people)
        assert all(signatures[groups.bucket_of[p]] == groups.signature(p) for p in groups.group_of)


def buckets_in_use_and_figures_count_what_is_there(series):
    seen, last = set(), set()
    for release, groups in series:
        candidate, people = release.candidate, set(groups.group_of)
        figures = candidate.figures
        assert figures.people == len(people)
        assert figures.tuples == len(groups.rows)
        assert figures.groups == len(groups.values)
        assert figures.counterfeits == sum(groups.counterfeits.values())
        assert figures.buckets == len(candidate.buckets)
        assert figures.returned == len((set(truth(release)) & seen) - last)
        assert figures.carried + figures.inserted + figures.separated == figures.people + figures.held_back
        by_bucket = Counter(groups.bucket_of.values())
        for bucket, signature, hosted, counterfeits, number in candidate.buckets.rows():
            assert hosted == by_bucket[bucket]
            assert hosted + counterfeits == number * len(signature)
        seen, last = seen | people, people


def the_order_of_rows_decides_nothing(table, releases):
    shuffled = Table(table.contracts, [people.reverse() for people in table.snapshots])
    for one, other in zip(releases, publish(shuffled), strict=True):
        assert str(one.refusal) == str(other.refusal)
        if one.candidate:
            for name, frame in one.candidate.published.items():
                assert frame.equals(other.candidate.published[name])
            assert one.candidate.linkage.sort("person").equals(other.candidate.linkage.sort("person"))
            remembered, otherwise = one.candidate.state.tables, other.candidate.state.tables
            assert remembered.keys() == otherwise.keys()
            assert all(frame.equals(otherwise[name]) for name, frame in remembered.items())


PROMISES = (
    groups_cover_the_people_they_host,
    the_values_of_a_group_are_distinct_and_all_its_tuples_have_one_box,
    a_new_signature_has_at_least_m_values,
    the_signatures_of_a_person_over_all_releases_are_equal_or_disjoint,
    a_value_that_stays_in_the_signature_keeps_it_after_any_absence,
    rows_are_people_and_counterfeits_and_the_statistics_say_where,
    no_group_has_more_counterfeits_than_its_share_of_those_of_its_signature,
    published_tables_are_in_canonical_order,
    no_interval_is_narrower_than_promised_or_leaves_the_domain,
    people_are_held_back_where_the_contract_says_so_and_remembered_nowhere,
    the_state_remembers_every_signature_of_everybody_and_when,
    buckets_in_use_and_figures_count_what_is_there,
)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.filterwarnings("error")
@settings(max_examples=75)
@given(tables())
def test_every_promise_holds_in_every_release_of_any_series(table):
    releases = publish(table)
    series = [(release, Groups(release)) for release in releases if release.candidate]
    for promise in PROMISES:
        promise(series)
    the_order_of_rows_decides_nothing(table, releases)
