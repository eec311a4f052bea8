"""The direct way to a safe set of partitions: enumerate everything. For tables of a few people.

What an adversary believes who is told that certain partitions are safe (the mental image), and which sets of
partitions may be told: the locally, the globally and the strongly globally safe set.

Liu and Wang, Privacy streamliner, CODASPY 2012, section 1 (Table 1) and section 2.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from anonymize.streamliner.model import Group, Identifier, Partition, Table


def largest_share(share: Fraction) -> Callable[[Table, Group], bool]:
    """The privacy property that no value is that of more than a share of a group; 1/l is l-diversity."""

    def is_safe(table: Table, group: Group) -> bool:
        counts = Counter(table[person] for person in group)
        return max(counts.values()) <= share * len(group)

    return is_safe


def all_partitions(people: Sequence[Identifier]) -> Iterator[Partition]:
    """Every identifier partition of some people; there are Bell(n) of them."""
    if not people:
        yield Partition()
        return
    first, *rest = people
    for partition in all_partitions(rest):
        yield partition | {Group({first})}
        for group in partition:
            yield (partition - {group}) | {group | {first}}


def all_tables(people: Sequence[Identifier], values: Iterable[Hashable]) -> list[dict]:
    """Every table in which some people have some values, each value as often as it is named."""
    return [dict(zip(people, order, strict=True)) for order in _arrangements(Counter(values))]


def _arrangements(counts: Counter) -> Iterator[tuple]:
    if not counts.total():
        yield ()
        return
    for value in sorted(value for value in counts if counts[value]):
        for rest in _arrangements(counts - Counter([value])):
            yield (value, *rest)


def is_locally_safe(table: Table, partition: Partition, is_safe: Callable[[Table, Group], bool]) -> bool:
    """Whether each group of a partition has the privacy property."""
    return all(is_safe(table, group) for group in partition)


def locally_safe_set(table: Table, is_safe: Callable[[Table, Group], bool]) -> list[Partition]:
    """LSS: every partition of a table's people that has the privacy property."""
    return [
        partition for partition in all_partitions(list(table)) if is_locally_safe(table, partition, is_safe)
    ]


def mental_image(
    table: Table,
    known: Collection[Partition],
    is_safe: Callable[[Table, Group], bool],
    released: Partition | None = None,
) -> list[dict]:
    """The tables an adversary deems possible who knows that some partitions are safe for the true one.

    Parameters
    ----------
    table
        The true table. The adversary knows its people and its values, not which belong together.
    known
        The partitions known to be safe.
    is_safe
        The privacy property, of a table and a group.
    released
        The partition the table was released with: the values of each of its groups are known too.
    """
    images = [
        image
        for image in all_tables(list(table), table.values())
        if all(is_locally_safe(image, partition, is_safe) for partition in known)
    ]
    if released is None:
        return images
    seen = _released_values(table, released)
    return [image for image in images if _released_values(image, released) == seen]


def _released_values(table: Table, partition: Partition) -> dict[Group, Counter]:
    return {group: Counter(table[person] for person in group) for group in partition}


def highest_ratio(images: Sequence[Table]) -> Fraction:
    """The largest share of the tables of a mental image in which any one person has any one value."""
    counts = Counter(pair for image in images for pair in image.items())
    return Fraction(max(counts.values()), len(images))


def is_globally_safe(
    table: Table, known: Collection[Partition], is_safe: Callable[[Table, Group], bool], share: Fraction
) -> bool:
    """GSS: whether knowing that some partitions are safe leaves every person's values below a share."""
    return highest_ratio(mental_image(table, known, is_safe)) <= share


def is_strongly_globally_safe(
    table: Table, known: Collection[Partition], is_safe: Callable[[Table, Group], bool], share: Fraction
) -> bool:
    """SGSS: whether that stays so after a release with any one of these partitions."""
    return is_globally_safe(table, known, is_safe, share) and all(
        highest_ratio(mental_image(table, known, is_safe, released)) <= share for released in known
    )


def safe_sets(
    table: Table,
    is_safe: Callable[[Table, Group], bool],
    share: Fraction,
    *,
    strongly: bool,
) -> list[frozenset[Partition]]:
    """Every set of locally safe partitions that is a GSS, or an SGSS; the largest ones first."""
    locally_safe = locally_safe_set(table, is_safe)
    judge = is_strongly_globally_safe if strongly else is_globally_safe
    return [
        frozenset(known)
        for size in range(len(locally_safe), 0, -1)
        for known in combinations(locally_safe, size)
        if judge(table, known, is_safe, share)
    ]
