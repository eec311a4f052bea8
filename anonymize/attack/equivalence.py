"""The equivalence attack: which people are known to have the same sensitive values as which others.

By mixed-integer programming. A row is a published partition (a group of one release), a column everybody who
was in the same partitions; weights on the rows whose values cancel out show which columns carry the same
values. The weights are any real numbers, as in Definition 10: whole ones (Lemma 2) are enough only while
nobody comes back and groups are not split. What the weights do to a person is a whole number.

An attack that is found comes with weights that are fractions, checked in whole numbers. That there is no
smaller one rests on the solver's branch and bound, which computes in floating point: this is what `proven`
means here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import lcm
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy
from scipy.sparse import block_diag, coo_array, csc_array, csr_array, diags_array, eye_array, hstack, vstack
from scipy.sparse.csgraph import connected_components

from republish.anonymize.attack.lone_groups import LonePart, lone_parts, without_copies

SEARCH_LIMIT = 1000
"""Rows up to which programmes are solved. Beyond, attacks by two partitions alone are found, none is
excluded, and the bound reported is the one that always holds."""

CELLS_LIMIT = 5 * 10**7
"""Rows times columns up to which programmes are solved: 400 MB as a dense matrix."""

LARGEST_DENOMINATOR = 1000
"""Of a weight that is checked in whole numbers."""

DECIDED = (0, 1, 2)
"""What the solver says of a programme it solved, ran out of time on, or found infeasible."""

NEVER = 2**62
"""The bound where no attack of a kind exists: as good as infinite."""

PRIME = 2**31 - 1
"""Ranks are computed modulo this: never above the rank over the rational numbers."""


@dataclass(frozen=True)
class Equivalence:
    """The smallest equivalence attack on a part of a series, or on all of it.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Definitions 6 and 10.
    """

    signature: tuple[Any, ...]
    """The values that its partitions hold."""
    signatures: int
    """How many signatures (values in the same proportions) its partitions have: 1, unless somebody was in
    partitions of several, or this is about the whole series."""
    partitions: int
    """Rows of the person matrix."""
    people: int
    """People in its columns, counterfeits included."""
    e: int | None
    """The smallest attack found; None if no attack was found."""
    at_least: int | None
    """No attack is smaller than this: equal to `e` where the search came to its end. None if no two sets of
    people can be shown to be equivalent."""
    witness: tuple[tuple[Any, ...], tuple[Any, ...]] = ((), ())
    """`e` people, each as often as it counts, and `e` others with the same values."""
    weights: tuple[tuple[int, Fraction], ...] = ()
    """The partitions (by number) whose weighted sum the attack is, and their weights."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def proven(self) -> bool:
        """Whether the search came to its end."""
        return self.e == self.at_least


class Compromised(NamedTuple):
    """The people who take part in an attack smaller than promised, apart from those not decided in time."""

    people: pl.DataFrame
    """`person`: takes part in an attack that was found and checked. More time never takes anybody off."""
    undecided: pl.DataFrame
    """`person`: takes part in no attack that was found, and the search did not come to its end."""


def minimum_equivalence(
    members: pl.DataFrame, contents: pl.DataFrame, *, seconds: float = 60.0
) -> list[Equivalence]:
    """Find the smallest equivalence attack on each part of a series, and on all of it.

    A part is a signature; signatures that somebody was in both of (no m-invariant series has such people) are
    one part. Nobody is in two parts, so an attack that combines several leaves, in at least two of them, a
    surplus of values: no fewer than one signature full (Lemma 3). Where that is below what was found, parts
    are searched together.

    Parameters
    ----------
    members
        `partition`, `person`: who is in which published group, counterfeits being persons of their own.
        A partition's number is unique over all releases; a person with several lifespans is one person,
        a person with another value is another.
    contents
        `partition`, `value`, `tuples`: the values published in each group.
    seconds
        Time for all parts together. A search cut off reports the lower bound it has proven.

    Returns
    -------
    list of Equivalence
        One per part, in order of the values; after them, if there are several, one for the whole series.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Definitions 9 and 10, Lemma 3.
    """
    deadline = time.monotonic() + seconds
    members, contents = without_copies(members, contents, _value_vectors(contents))
    lone, others = lone_parts(members, _value_vectors(contents))
    # Small ones first: one large one would use up the time of all.
    matrices = sorted(_matrices_of(others, members, contents), key=lambda matrix: matrix.rows.shape[0])
    found = [*map(_of_lone_part, lone), *(_minimum(matrix, deadline) for matrix in matrices)]
    parts = sorted(found, key=lambda one: [_missing_first(value) for value in one.signature])
    if len(parts) < 2:
        return parts
    bound = _surplus_bound(_surpluses(lone, matrices))
    related = partial(_related, contents, len(lone), matrices)
    return [*parts, _minimum_of_all(members, contents, parts, bound, related, deadline)]


def compromised(
    members: pl.DataFrame, contents: pl.DataFrame, e: int, *, seconds: float = 60.0
) -> Compromised:
    """Find everybody who takes part in an equivalence attack smaller than e, as promised.

    People whom there was no time, or too large a matrix, to decide about are apart from those who were
    caught.
    """
    deadline = time.monotonic() + seconds
    members, contents = without_copies(members, contents, _value_vectors(contents))
    lone, others = lone_parts(members, _value_vectors(contents))
    matrices = list(_matrices_of(others, members, contents))
    is_joint = _surplus_bound(_surpluses(lone, matrices)) < e
    if is_joint or any(one.e is not None and one.e < e for one in lone):
        lone, matrices = [], list(person_matrices(members, contents))
    caught, undecided = [], []
    for matrix in matrices:
        together = [matrix] if matrix.surplus_bound() < e else matrix.components
        for part in together:
            yes, unknown = _caught(part, e, deadline)
            caught += part.named(yes)
            undecided += part.named(unknown)
    if len(matrices) > 1 and is_joint and _related(contents, 0, matrices):
        whole = PersonMatrix.together(matrices)
        before = whole.people.list.first().is_in(caught).to_numpy()
        yes, unknown = _caught(whole, e, deadline, before)
        caught, undecided = whole.named(yes), whole.named(unknown)
    dtype = members.schema["person"]
    return Compromised(
        *(pl.DataFrame({"person": pl.Series(named, dtype=dtype)}) for named in (caught, undecided))
    )


def _matrices_of(
    partitions: pl.Series, members: pl.DataFrame, contents: pl.DataFrame
) -> Iterator[PersonMatrix]:
    """The matrices of some partitions, which have nobody in common with the others."""
    if partitions.is_empty():
        return iter(())
    is_among = pl.col("partition").is_in(partitions.implode())
    return person_matrices(members.filter(is_among), contents.filter(is_among))


def _of_lone_part(part: LonePart) -> Equivalence:
    numbers, witness = [number for number, _ in part.pair], [people for _, people in part.pair]
    return Equivalence(
        part.signature,
        signatures=1,
        partitions=part.partitions,
        people=part.people,
        e=part.e,
        at_least=part.e,
        witness=(witness[0], witness[1]) if witness else ((), ()),
        weights=tuple(zip(numbers, (Fraction(1), Fraction(-1)), strict=True)) if numbers else (),
    )


def _minimum(matrix: PersonMatrix, deadline: float) -> Equivalence:
    begun = time.monotonic()
    return _equivalence(matrix, *_smallest(matrix, deadline), begun)


def _equivalence(
    matrix: PersonMatrix, attack: _Attack | None, at_least: int | None, begun: float
) -> Equivalence:
    return Equivalence(
        matrix.signature,
        signatures=matrix.signatures,
        partitions=matrix.rows.shape[0],
        people=int(matrix.copies.sum()),
        e=attack.e if attack else None,
        at_least=at_least,
        witness=attack.witness if attack else ((), ()),
        weights=attack.weights if attack else (),
        seconds=time.monotonic() - begun,
    )


def _minimum_of_all(
    members: pl.DataFrame,
    contents: pl.DataFrame,
    found: Sequence[Equivalence],
    bound: int,
    related: Callable[[], bool],
    deadline: float,
) -> Equivalence:
    """The smallest attack on the whole series, given the smallest on each part.

    Parameters
    ----------
    members, contents
        The series.
    found
        The smallest attack on each part.
    bound
        No attack that combines several parts has a smaller e.
    related
        Whether values of different parts can cancel out.
    deadline
        When the search ends.
    """
    begun = time.monotonic()
    best = min((one for one in found if one.e is not None), key=lambda one: one.e or 0, default=None)
    at_least = min((one.at_least for one in found if one.at_least is not None), default=None)
    partitions, better = sum(one.partitions for one in found), None
    if (at_least is None or at_least > bound) and related():
        joint: int | None = bound
        if partitions <= SEARCH_LIMIT:
            whole = PersonMatrix.together([*person_matrices(members, contents)])
            better, joint = _search(whole, None if best is None else best.e, deadline, begin=bound)
        at_least = _joined(at_least, joint, bound)
    smallest = better or best
    return Equivalence(
        tuple(sorted({value for one in found for value in one.signature}, key=_missing_first)),
        signatures=sum(one.signatures for one in found),
        partitions=partitions,
        people=sum(one.people for one in found),
        e=smallest.e if smallest else None,
        at_least=at_least,
        witness=smallest.witness if smallest else ((), ()),
        weights=smallest.weights if smallest else (),
        seconds=time.monotonic() - begun,
    )


def _missing_first(value: object) -> tuple[Any, ...]:
    """A key to sort values by, one of which may be missing."""
    return (value is not None, value)


def _surpluses(lone: Sequence[LonePart], matrices: Sequence[PersonMatrix]) -> list[int]:
    return [*(part.surplus for part in lone), *(matrix.surplus for matrix in matrices)]


def _surplus_bound(surplus: Sequence[int]) -> int:
    """No attack that combines several parts has a smaller e, given the least surplus of values of each.

    The surplus of one part is made up for by at least one other, and every value in it is somebody's.
    """
    return -(-sum(sorted(surplus)[:2]) // 2)


def _related(contents: pl.DataFrame, lone: int, matrices: Sequence[PersonMatrix]) -> bool:
    """Whether values of different parts can cancel out: whether their value vectors are dependent.

    A rank modulo a prime is never too large, so that `False` is certain. Of a `lone` part it is 1.
    """
    if lone + len(matrices) > contents["value"].n_unique():
        return True
    held = _value_vectors(contents).unique("signature", keep="first").select("value", "tuples")
    held = held.with_row_index("row").explode("value", "tuples", empty_as_null=False)
    at = held["row"].to_numpy(), (held["value"].rank("dense").fill_null(0)).to_numpy().astype(np.int64)
    whole = csr_array((held["tuples"].to_numpy().astype(float), at))
    return _rank(whole) < lone + sum(_rank(matrix.values) for matrix in matrices)


def _rank(matrix: csr_array) -> int:
    """The rank of whole numbers modulo a prime."""
    rows = np.unique(matrix.toarray().astype(np.int64), axis=0) % PRIME
    rank = 0
    for column in range(rows.shape[1]):
        pivots = np.flatnonzero(rows[rank:, column])
        if len(pivots) == 0:
            continue
        at = rank + pivots[0]
        rows[[rank, at]] = rows[[at, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, PRIME) % PRIME
        below = rows[rank + 1 :]
        below -= below[:, [column]] * rows[rank] % PRIME
        below %= PRIME
        rank += 1
        if rank == len(rows):
            break
    return rank


def _caught(
    matrix: PersonMatrix, e: int, deadline: float, known: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """bool[C], bool[C]: columns in an attack with e' < e; columns not decided, for want of time or size."""
    caught = _caught_by_pairs(matrix, e)
    caught |= False if known is None else known
    left = matrix.movable(e) & ~caught
    if matrix.is_too_large:
        return caught, left
    left &= _reached(matrix, e)
    # Columns of a basis first: if none of them takes part in an attack, nobody does.
    still: list[int] = []
    basis = _basis(matrix, e)
    for column in [*basis, *np.flatnonzero(left).tolist()]:
        if not caught.any() and not left[basis].any():
            break
        if caught[column] or not left[column]:
            continue
        attack, complete = _solve(matrix, e, column, still, deadline)
        if attack is not None:
            caught[attack.caught] = True
        elif complete:
            left[column] = False
            still.append(column)
    unknown = left & ~caught
    return caught, unknown if caught.any() or unknown[basis].any() else np.zeros_like(caught)


def _caught_by_pairs(matrix: PersonMatrix, e: int) -> np.ndarray:
    """bool[C]: the columns in which two partitions with the same values differ, where they differ in < e."""
    caught = np.zeros(len(matrix.copies), dtype=bool)
    shared, sizes = matrix.shared, matrix.rows @ matrix.copies
    cost = sizes[shared.row] + sizes[shared.col] - 2 * shared.data
    contents = _fingerprints(matrix.values)
    alike = contents[shared.row] == contents[shared.col]
    close = np.flatnonzero((shared.row < shared.col) & alike & (cost > 0) & (cost < 2 * e))
    differing = (matrix.rows[shared.row[close]] - matrix.rows[shared.col[close]]).tocoo()
    caught[differing.col[differing.data != 0]] = True
    return caught


def person_matrices(members: pl.DataFrame, contents: pl.DataFrame) -> Iterator[PersonMatrix]:
    """Build the person and value matrices, one for each set of linearly dependent value vectors.

    Sets that a person connects, by being in partitions of both, are one.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Definition 9, section VI-A.
    """
    vectors = _value_vectors(contents)
    inside = members.join(vectors.select("partition", "signature"), on="partition", how="inner")
    parts = vectors.join(_parts(inside), on="signature", how="left", maintain_order="left").with_columns(
        # A partition without known people is a part of its own signature.
        pl.col("part").fill_null(-1 - pl.col("signature").cast(pl.Int64))
    )
    columns = (
        inside.join(parts.select("partition", "part"), on="partition")
        .sort("partition")
        .group_by("part", "person", maintain_order=True)
        .agg("partition")
        .group_by("part", "partition", maintain_order=True)
        .agg("person")
        .sort("part", maintain_order=True)
        .with_columns(column=pl.int_range(pl.len(), dtype=pl.Int32).over("part"))
    )
    of_row = columns.select("partition", "column").explode("partition").sort("partition", "column")
    rows = (
        parts.sort("part", "partition")
        .join(of_row.group_by("partition").agg("column"), on="partition", how="left", maintain_order="left")
        .with_columns(pl.col("column").fill_null([]), signatures=pl.col("signature").n_unique().over("part"))
        .with_columns(alike=pl.struct("column", "value", "tuples").rank("dense"))
        .unique(["part", "alike"], keep="first", maintain_order=True)
    )
    held = rows.select("part", "value", "tuples").explode("value", "tuples")
    domains = held.group_by("part", maintain_order=True).agg(pl.col("value").unique().sort())["value"]
    # Sorted, a missing value comes first.
    rank = pl.col("value").rank("dense").fill_null(0).cast(pl.Int32)
    place = held.select((rank - rank.min()).over("part")).to_series().to_numpy()
    tuples, column = (
        held["tuples"].to_numpy().astype(float),
        rows["column"].explode(empty_as_null=False).to_numpy(),
    )
    in_rows, in_values = _ends(rows["column"]), _ends(rows["value"])
    ones, people = np.ones(len(column)), columns["person"]
    copies = people.list.len().to_numpy().astype(float)
    sizes = rows.group_by("part", maintain_order=True).agg(pl.len(), pl.col("signatures").first())
    width = dict(columns.group_by("part").agg(pl.len()).rows())
    begin = left = 0
    for domain, (part, size, signatures) in zip(domains, sizes.rows(), strict=True):
        end, right = begin + size, left + width.get(part, 0)
        yield PersonMatrix(
            signature=tuple(domain),
            signatures=signatures,
            partitions=rows["partition"][begin:end].to_numpy(),
            rows=_rows(ones, column, in_rows[begin : end + 1], right - left),
            values=_rows(tuples, place, in_values[begin : end + 1], len(domain)),
            copies=copies[left:right],
            people=people[left:right],
        )
        begin, left = end, right


def _ends(lists: pl.Series) -> np.ndarray:
    """int32[N + 1]: where each list begins, one after the other, and where the last one ends."""
    return np.concatenate([[0], lists.list.len().to_numpy().cumsum()]).astype(np.int32)


def _rows(numbers: np.ndarray, column: np.ndarray, ends: np.ndarray, width: int) -> csr_array:
    """Some rows of a sparse matrix, of the numbers and columns of all rows; where they begin and end."""
    here = slice(ends[0], ends[-1])
    return csr_array((numbers[here], column[here], ends - ends[0]), shape=(len(ends) - 1, width))


def _value_vectors(contents: pl.DataFrame) -> pl.DataFrame:
    """`partition`, `value`, `tuples` (lists), `times`, `signature`.

    The signature is a number for values in the same proportions, `times` how often a partition has it.
    """
    ordered = contents.sort("partition", "value")
    offsets = ordered["partition"].rle_id().arg_unique().to_numpy()
    tuples = ordered["tuples"].to_numpy().astype(np.int64)
    divisor = np.gcd.reduceat(tuples, offsets) if len(tuples) else tuples
    times = np.repeat(divisor, np.diff([*offsets, len(tuples)]))
    return (
        ordered.with_columns(pl.Series("share", tuples // times), pl.Series("times", times))
        .group_by("partition", maintain_order=True)
        .agg("value", "tuples", "share", pl.col("times").first())
        .with_columns(pl.struct("value", "share").rank("dense").cast(pl.Int64).alias("signature"))
        .drop("share")
    )


def _parts(inside: pl.DataFrame) -> pl.DataFrame:
    """`signature`, `part`: signatures that have a person in common are in one part."""
    pairs = inside.select("signature", pl.col("person").rank("dense")).unique()
    known = pairs["signature"].unique().sort()
    at = known.search_sorted(pairs["signature"]).to_numpy(), pairs["person"].to_numpy() - 1
    people = int(at[1].max()) + 1 if len(pairs) else 0
    incidence = csr_array((np.ones(len(pairs)), at), shape=(len(known), people))
    _, label = connected_components(incidence @ incidence.T, directed=False)
    return pl.DataFrame({"signature": known, "part": pl.Series(label, dtype=pl.Int64)})


@dataclass(frozen=True)
class PersonMatrix:
    """Partitions, who is in them, and what values they hold. No two rows are alike."""

    signature: tuple[Any, ...]
    """The values held: the columns of `values`."""
    signatures: int
    """Values in different proportions count as different signatures."""
    partitions: np.ndarray
    """int64[N]: the number of each row's partition."""
    rows: csr_array
    """float64[N, C]: 1 where the people of a column are in the partition of a row."""
    values: csr_array
    """float64[N, V]: how many tuples of the partition carry each value."""
    copies: np.ndarray
    """float64[C]: the people in a column."""
    people: pl.Series
    """list[C]: who they are."""

    @classmethod
    def together(cls, matrices: Sequence[PersonMatrix]) -> PersonMatrix:
        """Matrices that have nobody in common as one."""
        everything = sorted({value for matrix in matrices for value in matrix.signature}, key=_missing_first)
        domain = {value: number for number, value in enumerate(everything)}
        values = []
        for matrix in matrices:
            one = matrix.values.tocoo()
            number = np.array([domain[value] for value in matrix.signature], dtype=np.int64)
            values.append(
                csr_array((one.data, (one.row, number[one.col])), shape=(one.shape[0], len(domain)))
            )
        return cls(
            signature=tuple(domain),
            signatures=sum(matrix.signatures for matrix in matrices),
            partitions=np.concatenate([matrix.partitions for matrix in matrices]),
            rows=csr_array(block_diag([matrix.rows for matrix in matrices], format="csr")),
            values=csr_array(vstack(values)),
            copies=np.concatenate([matrix.copies for matrix in matrices]),
            people=pl.concat([matrix.people for matrix in matrices]),
        )

    @cached_property
    def shared(self) -> coo_array:
        """float64[N, N]: the people whom each two partitions have in common, where there are any."""
        return (self.rows @ diags_array(self.copies) @ self.rows.T).tocoo()

    @property
    def is_too_large(self) -> bool:
        """Whether programmes on it are not even tried."""
        rows, columns = self.rows.shape
        return bool(rows > SEARCH_LIMIT or rows * columns > CELLS_LIMIT)

    @cached_property
    def complete(self) -> bool:
        """Whether every tuple is somebody's: then as many people are on one side as on the other."""
        return bool(np.array_equal(self.rows @ self.copies, self.values.sum(axis=1)))

    @property
    def surplus(self) -> int:
        """The fewest tuples left over by weights under which its values do not cancel out.

        A multiple of the signature, if there is one: what the weights do to a person is a whole number, and
        the values left over are those people's.
        """
        if not self.complete or self.rows.shape[0] == 0:
            return 1
        dense = np.unique(self.values.toarray().astype(np.int64), axis=0)
        primitive = np.unique(dense // np.gcd.reduce(dense, axis=1)[:, None], axis=0)
        return int(primitive.sum()) if len(primitive) == 1 else 1

    def surplus_bound(self) -> int:
        """No attack that combines unconnected components has a smaller e."""
        parts = self.components
        return _surplus_bound([part.surplus for part in parts]) if len(parts) > 1 else NEVER

    def movable(self, below: int) -> np.ndarray:
        """bool[C]: columns few enough to take part in an attack with e < below."""
        return self.copies < below if self.complete else self.copies <= 2 * (below - 1)

    def named(self, columns: np.ndarray) -> list[Any]:
        """The people of some columns (bool[C])."""
        return self.people.filter(pl.Series(columns, dtype=pl.Boolean)).explode(empty_as_null=False).to_list()

    @cached_property
    def components(self) -> list[PersonMatrix]:
        """The parts no person connects."""
        count, label = connected_components(self.shared, directed=False)
        if count <= 1:
            return [self]
        order = np.argsort(label, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
        return [self._of(part, np.unique(self.rows[part].indices)) for part in parts]

    def _of(self, rows: np.ndarray, columns: np.ndarray) -> PersonMatrix:
        return replace(
            self,
            partitions=self.partitions[rows],
            rows=csr_array(csc_array(self.rows[rows])[:, columns]),
            values=self.values[rows],
            copies=self.copies[columns],
            people=self.people.gather(columns),
        )


@dataclass(frozen=True)
class _Attack:
    e: int
    witness: tuple[tuple[Any, ...], tuple[Any, ...]]
    weights: tuple[tuple[int, Fraction], ...]
    caught: np.ndarray
    """int[]: the columns that take part, of the matrix that was searched."""


def _attack(matrix: PersonMatrix, weights: Sequence[Fraction]) -> _Attack | None:
    """The attack that weights of the rows are, by exact arithmetic; None if they are none."""
    denominator = lcm(*(weight.denominator for weight in weights))
    numerators = [int(weight * denominator) for weight in weights]
    largest = max(denominator, *map(abs, numerators))  # Python's numbers, which have no end
    if largest * max(matrix.rows.shape) * int(matrix.values.max()) > 2**62:
        return None
    whole = np.array(numerators, dtype=np.int64)
    effect = matrix.rows.astype(np.int64).T @ whole
    if (matrix.values.astype(np.int64).T @ whole).any() or (effect % denominator).any() or not effect.any():
        return None
    effect //= denominator

    def side(sign: int) -> tuple[Any, ...]:
        return tuple(
            person
            for column in np.flatnonzero(effect * sign > 0)
            for person in matrix.people[int(column)]
            for _ in range(int(abs(effect[column])))
        )

    used = tuple(
        (int(number), weight) for number, weight in zip(matrix.partitions, weights, strict=True) if weight
    )
    size = int(matrix.copies @ np.abs(effect)) // 2
    return _Attack(size, (side(1), side(-1)), used, np.flatnonzero(effect))


def _smallest(matrix: PersonMatrix, deadline: float) -> tuple[_Attack | None, int | None]:
    """The smallest attack, and the bound below which there is proven to be none."""
    best = _smallest_pair(matrix)
    if best is not None and best.e == 1:
        return best, 1
    bounds: list[int | None] = []
    for part in matrix.components:
        if matrix.is_too_large and time.monotonic() > deadline:
            bounds.append(1)
            break
        found, bound = _search(part, None if best is None else best.e, deadline)
        best = found or best
        bounds.append(bound)
    at_least = min((bound for bound in bounds if bound is not None), default=None)
    if best is not None and (at_least is None or at_least > best.e):
        at_least = best.e
    apart = matrix.surplus_bound()
    if apart < NEVER and (at_least is None or at_least > apart):
        found, joint = _search(matrix, None if best is None else best.e, deadline, begin=apart)
        best, at_least = found or best, _joined(at_least, joint, apart)
    return best, at_least


def _joined(apart: int | None, joint: int | None, begin: int) -> int | None:
    """The bound for attacks of both kinds: within parts (`apart`), and any from `begin` on (`joint`).

    A joint search that got beyond where it began has looked at attacks within parts as well.
    """
    if joint is None or joint > begin:
        return joint
    return begin if apart is None else min(apart, begin)


def _smallest_pair(matrix: PersonMatrix) -> _Attack | None:
    """The smallest attack by subtracting one partition from another: quick, and often the smallest."""
    contents, sizes, shared = _fingerprints(matrix.values), matrix.rows @ matrix.copies, matrix.shared
    cost = sizes[shared.row] + sizes[shared.col] - 2 * shared.data
    close = np.flatnonzero((cost > 0) & (contents[shared.row] == contents[shared.col]))
    # Of partitions with the same values, the two smallest, too: they need not have anybody in common.
    order = np.lexsort((sizes, contents))
    is_first = np.diff(contents[order], prepend=contents[order][:1] - 1) != 0
    at = np.flatnonzero(is_first[:-1] & ~is_first[1:])
    first = np.concatenate([shared.row[close], order[at]])
    second = np.concatenate([shared.col[close], order[at + 1]])
    cost = np.concatenate([cost[close], sizes[order[at]] + sizes[order[at + 1]]])
    if not cost.any():
        return None
    best = np.where(cost > 0, cost, np.inf).argmin()
    weights = [Fraction(0)] * len(contents)
    weights[first[best]], weights[second[best]] = Fraction(1), Fraction(-1)
    return _attack(matrix, weights)


def _fingerprints(rows: csr_array) -> np.ndarray:
    """int64[N]: a number for each row of whole numbers, the same for rows that are the same."""
    numbers = np.random.default_rng(0).integers(-(2**62), 2**62, rows.shape[1])
    total = np.concatenate([[0], (rows.data.astype(np.int64) * numbers[rows.indices]).cumsum()])
    return np.diff(total[rows.indptr])


def _search(
    matrix: PersonMatrix, best: int | None, deadline: float, begin: int = 1
) -> tuple[_Attack | None, int | None]:
    """An attack with a smaller e than `best` (or None), and the bound proven; None if there is no attack."""
    found, below = None, begin
    if matrix.is_too_large:
        return None, begin
    upper = int(matrix.copies.sum()) + 1 if best is None else best
    while below < upper:
        proven, below = below, min(max(2, 2 * below), upper)
        still: list[int] = []
        for column in _basis(matrix, below):
            attack, complete = _solve(matrix, min(below, upper), column, still, deadline)
            if attack is not None:
                found, upper = attack, attack.e
            if not complete:
                return found, min(proven, upper)
            still.append(column)
        if found is not None and upper <= below:
            break
    return found, (None if best is None and found is None else upper)


def _dense(matrix: PersonMatrix, below: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The movable columns' numbers, their part of the matrix, and weights that move no other and no value."""
    movable = np.flatnonzero(matrix.movable(below))
    dense = matrix.rows.toarray()
    fixed = np.column_stack([np.delete(dense, movable, axis=1), _distinct_columns(matrix.values)])
    return movable, dense[:, movable], scipy.linalg.null_space(fixed.T, rcond=1e-9)


def _distinct_columns(values: csr_array) -> np.ndarray:
    return np.unique(values.toarray(), axis=1)


def _basis(matrix: PersonMatrix, below: int) -> list[int]:
    """Columns of which at least one has a weight in every attack with e < below; none, if there is none."""
    movable, columns, free = _dense(matrix, below)
    if free.shape[1] == 0 or len(movable) == 0:
        return []
    _, triangle, order = scipy.linalg.qr(free.T @ columns, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(triangle)) > 1e-7).sum())
    return [int(column) for column in movable[order[:rank]]]


def _reached(matrix: PersonMatrix, below: int) -> np.ndarray:
    """bool[C]: columns that can have a weight at all once those too many to move are held still."""
    movable, columns, free = _dense(matrix, below)
    reached = np.zeros(len(matrix.copies), dtype=bool)
    if free.shape[1]:
        reached[movable] = (np.abs(free.T @ columns) > 1e-9).any(axis=0)
    return reached


def _solve(
    matrix: PersonMatrix, below: int, nonzero: int, still: list[int], deadline: float
) -> tuple[_Attack | None, bool]:
    """The smallest attack with e < below that moves one column and leaves others alone.

    Weights of rows are real numbers; what they do to a person is a whole one (Definition 10).
    """
    movable = np.flatnonzero(matrix.movable(below))
    left = deadline - time.monotonic()
    if nonzero not in movable or left <= 0:
        return None, left > 0
    n, k = matrix.rows.shape[0], len(movable)
    columns = csr_array(matrix.rows.T)
    fixed = np.setdiff1d(np.arange(len(matrix.copies)), movable)
    copies = matrix.copies[movable]
    values = csr_array(_distinct_columns(matrix.values).T)
    zeros, identity = csr_array((1, n)), eye_array(k)
    # Variables: weights of rows; what they do to each movable column, upwards and downwards.
    constraints = [
        scipy.optimize.LinearConstraint(hstack([columns[movable], -identity, identity]), 0, 0),
        scipy.optimize.LinearConstraint(hstack([values, csr_array((values.shape[0], 2 * k))]), 0, 0),
        scipy.optimize.LinearConstraint(
            hstack([zeros, csr_array(np.tile(copies, 2)[None, :])]), 2, 2 * (below - 1)
        ),
    ]
    if len(fixed):
        constraints.append(
            scipy.optimize.LinearConstraint(hstack([columns[fixed], csr_array((len(fixed), 2 * k))]), 0, 0)
        )
    most = (below - 1) // copies if matrix.complete else 2 * (below - 1) // copies
    up, down = (np.where(np.isin(movable, still), 0, most) for _ in range(2))
    down[movable == nonzero] = 0
    least = (movable == nonzero).astype(float)
    programme = {
        "c": np.concatenate([np.zeros(n), copies, copies]),
        "integrality": np.concatenate([np.zeros(n), np.ones(2 * k)]),
        "bounds": scipy.optimize.Bounds(
            np.concatenate([np.full(n, -np.inf), least, np.zeros(k)]),
            np.concatenate([np.full(n, np.inf), up, down]),
        ),
        "constraints": constraints,
    }
    solved = scipy.optimize.milp(**programme, options={"time_limit": left})
    if solved.status not in DECIDED:
        # Numerical trouble after presolving; the programme as it stands is small enough.
        left = max(deadline - time.monotonic(), 0.1)
        solved = scipy.optimize.milp(**programme, options={"time_limit": left, "presolve": False})
    if solved.x is None:
        return None, solved.status == 2
    weights = [Fraction(weight).limit_denominator(LARGEST_DENOMINATOR) for weight in solved.x[:n]]
    attack = _attack(matrix, weights)
    return attack, attack is not None and solved.status == 0
