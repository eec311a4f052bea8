"""The paper's definitions, word for word, on sets of identifiers: the yardstick for everything fast.

A table is a mapping from identifiers to sensitive values, an anonymized group a frozenset of identifiers, an
identifier partition a frozenset of groups, and a bijection a mapping from identifiers to identifiers.

The second half is the direct way to a safe set of partitions: enumerate everything. It has what an adversary
believes after learning that certain partitions are safe (the mental image), and the sets of partitions that
may be told: the locally, the globally and the strongly globally safe set. This is for tables of a few people.

Liu and Wang, Privacy streamliner, CODASPY 2012, sections 1 (Table 1) and 2, and appendix A.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from benchmarks.adversaries.every_table import all_partitions

Identifier = Hashable
Table = Mapping[Identifier, Hashable]
Group = frozenset
Partition = frozenset
Bijection = Mapping[Identifier, Identifier]


@dataclass(frozen=True)
class LCandidate:
    """A color and the l - 1 other sets of identifiers it can't be told from."""

    color: frozenset
    """C: all identifiers of one sensitive value."""
    bijections: tuple[Bijection, ...]
    """f_1, …, f_(l-1), each from the color to a set of other identifiers."""

    @property
    def sets(self) -> list[frozenset]:
        """The color, and the image of each bijection."""
        return [self.color, *(frozenset(f.values()) for f in self.bijections)]


def colors(table: Table) -> dict[Hashable, frozenset]:
    """The identifiers of each sensitive value (section 2.1).

    Examples
    --------
    >>> colors({"id1": "s1", "id2": "s1", "id3": "s2"}) == {
    ...     "s1": frozenset({"id1", "id2"}), "s2": frozenset({"id3"})
    ... }
    True
    """
    return {
        value: frozenset(person for person in table if table[person] == value) for value in table.values()
    }


def is_l_eligible(table: Table, l: int) -> bool:
    """Whether at most |t|/l tuples share a sensitive value (section 2.1)."""
    return all(l * len(color) <= len(table) for color in colors(table).values())


def are_candidates(first: frozenset, second: frozenset, bijection: Bijection, table: Table) -> bool:
    """Whether two sets are candidates for each other by a bijection (Definition 1)."""
    return (
        not first & second
        and len(first) == len(second)
        and set(bijection) == first
        and set(bijection.values()) == second
        and all(table[person] != table[image] for person, image in bijection.items())
    )


def satisfies_theorem_2(candidate: LCandidate, table: Table) -> bool:
    """Whether a color and l - 1 sets meet the conditions under which they are an l-candidate (Theorem 2)."""
    color, *others = candidate.sets
    union = frozenset().union(*others)
    counts = Counter(table[person] for person in union)
    return (
        all(len(other) == len(color) and not other & color for other in others)
        and len(union) == sum(map(len, others))
        and max(counts.values(), default=0) <= len(color)
    )


def is_self_contained(partition: Partition, candidates: Sequence[LCandidate]) -> bool:
    """Whether no group separates an identifier from one that a bijection maps it to (Definition 2)."""
    group_of = {person: group for group in partition for person in group}
    return all(
        group_of[person] == group_of[image]
        for candidate in candidates
        for f in candidate.bijections
        for person, image in f.items()
    )


def family_set(partitions: Iterable[Partition], candidates: Sequence[LCandidate]) -> list[Partition]:
    """The self-contained ones among some partitions: the largest family set in them (Definition 2)."""
    return [partition for partition in partitions if is_self_contained(partition, candidates)]


def minimal_self_contained(candidates: Sequence[LCandidate]) -> Partition:
    """Each identifier with its images, merged while they have one in common (Definition 3, Table 9)."""
    groups: list[frozenset] = []
    for candidate in candidates:
        for person in candidate.color:
            transient = frozenset({person, *(f[person] for f in candidate.bijections)})
            apart = [group for group in groups if not group & transient]
            groups = [*apart, transient.union(*(group for group in groups if group & transient))]
    return Partition(groups)


def is_cover(bijection: Bijection, partitions: Collection[Partition]) -> bool:
    """Whether a set and its image can change places in every partition (Definition 4)."""
    first, second = frozenset(bijection), frozenset(bijection.values())
    if first & second or len(first) != len(second):
        return False
    swapped = {**bijection, **{image: person for person, image in bijection.items()}}
    groups = {group for partition in partitions for group in partition}
    return all(frozenset(swapped.get(person, person) for person in group) in groups for group in groups)


def satisfies_l_cover(
    candidates: Sequence[LCandidate], partitions: Collection[Partition], table: Table
) -> bool:
    """Whether each color has l - 1 covers, each from different colors and in equal shares (Definition 5)."""
    groups = {group for partition in partitions for group in partition}
    return all(
        all(is_cover(f, partitions) for f in candidate.bijections)
        and all(
            len({table[f[person]] for f in candidate.bijections} | {table[person]})
            == 1 + len(candidate.bijections)
            for person in candidate.color
        )
        and all(
            len(group & candidate.color) == len(group & other) for group in groups for other in candidate.sets
        )
        for candidate in candidates
    )


def largest_share(share: Fraction) -> Callable[[Table, Group], bool]:
    """The privacy property that no value is that of more than a share of a group; 1/l is l-diversity."""

    def is_safe(table: Table, group: Group) -> bool:
        counts = Counter(table[person] for person in group)
        return max(counts.values()) <= share * len(group)

    return is_safe


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
    table: Table, is_safe: Callable[[Table, Group], bool], share: Fraction, *, strongly: bool
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
