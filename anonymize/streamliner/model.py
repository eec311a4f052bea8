"""The paper's definitions, word for word, on sets of identifiers: the yardstick for everything fast.

They take time exponential in nothing, but loop over identifiers: for tables of a few people. A table is a
mapping from identifiers to sensitive values, an anonymized group a frozenset of identifiers, an identifier
partition a frozenset of groups, and a bijection a mapping from identifiers to identifiers.

Liu and Wang, Privacy streamliner, CODASPY 2012, section 2 and appendix A.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

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


def is_l_diverse(group: Iterable[Identifier], table: Table, l: int) -> bool:
    """Whether no sensitive value is that of more than 1/l of a group."""
    counts = Counter(table[person] for person in group)
    return l * max(counts.values(), default=0) <= counts.total()


def are_candidates(first: frozenset, second: frozenset, bijection: Bijection, table: Table) -> bool:
    """Whether two sets are candidates for each other by a bijection (Definition 1)."""
    return (
        not first & second
        and len(first) == len(second)
        and set(bijection) == first
        and set(bijection.values()) == second
        and all(table[person] != table[image] for person, image in bijection.items())
    )


def can_be_candidates(first: frozenset, second: frozenset, table: Table) -> bool:
    """Whether some bijection makes two sets candidates for each other, by counting colors (Lemma 4)."""
    counts = Counter(table[person] for person in first | second)
    return not first & second and len(first) == len(second) and max(counts.values(), default=0) <= len(first)


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
