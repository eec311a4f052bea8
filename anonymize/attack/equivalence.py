"""The equivalence attack: which people are known to have the same sensitive values as which others.

Exact, by mixed-integer programming. A row is a published partition (a group of one release), a column
everybody who was in the same partitions; weights on the rows whose values cancel out show which columns
carry the same values.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy.linalg import null_space, qr
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array, csr_array, diags_array, eye_array, hstack
from scipy.sparse.csgraph import connected_components

SEARCH_LIMIT = 1000
"""Rows up to which programmes are solved. Beyond, attacks by two partitions alone are found, none is
excluded, and the bound reported is the one that always holds."""

DECIDED = (0, 1, 2)
"""What the solver says of a programme it solved, ran out of time on, or found infeasible."""


@dataclass(frozen=True)
class Equivalence:
    """The smallest equivalence attack on one signature.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Definitions 6 and 10.
    """

    signature: tuple
    """The values all the partitions hold, in the same proportions."""
    partitions: int
    """Rows of the person matrix."""
    people: int
    """Columns of the person matrix, counterfeits included."""
    e: int | None
    """The smallest attack found; None if no two sets of people can be told to be equivalent."""
    at_least: int | None
    """No attack is smaller than this: equal to `e` where the search came to its end."""
    witness: tuple[tuple, tuple] = ((), ())
    """`e` people, each as often as it counts, and `e` others with the same values."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def proven(self) -> bool:
        """Whether the search came to its end."""
        return self.e == self.at_least


def minimum_equivalence(
    members: pl.DataFrame, contents: pl.DataFrame, *, seconds: float = 60.0
) -> list[Equivalence]:
    """The smallest equivalence attack on each signature of a series.

    Lemma 3: under m-invariance no smaller attack (up to m) combines several signatures.

    Parameters
    ----------
    members
        `partition`, `person`: who is in which published group, counterfeits being persons of their own.
        A partition's number is unique over all releases; a person with several lifespans is one person.
    contents
        `partition`, `value`, `tuples`: the values published in each group.
    seconds
        Time for all signatures together. A search cut off reports the lower bound it has proven.

    Returns
    -------
    list of Equivalence
        One per signature, in order of the signatures.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Definitions 9 and 10, Lemmas 2
    and 3.
    """
    deadline = time.monotonic() + seconds
    # Small ones first: one large one would use up the time of all.
    matrices = sorted(person_matrices(members, contents), key=lambda matrix: matrix.rows.shape[0])
    found = [_minimum(matrix, deadline) for matrix in matrices]
    return sorted(found, key=lambda one: [(value is None, value) for value in one.signature])


def _minimum(matrix: PersonMatrix, deadline: float) -> Equivalence:
    begun = time.monotonic()
    attack, at_least = _smallest(matrix, deadline)
    return Equivalence(
        matrix.signature,
        partitions=matrix.rows.shape[0],
        people=int(matrix.copies.sum()),
        e=attack.e if attack else None,
        at_least=at_least,
        witness=attack.witness if attack else ((), ()),
        seconds=time.monotonic() - begun,
    )


def compromised(
    members: pl.DataFrame, contents: pl.DataFrame, e: int, *, seconds: float = 60.0
) -> tuple[pl.DataFrame, int]:
    """Everybody who takes part in an equivalence attack smaller than e.

    Parameters
    ----------
    members, contents, seconds
        As for `minimum_equivalence`.
    e
        What is promised: no attack with e' < e.

    Returns
    -------
    people : pl.DataFrame
        `person`: those compromised, counterfeits among them.
    undecided : int
        People about whom the time was too short to say.
    """
    deadline = time.monotonic() + seconds
    named, undecided = [], 0
    for matrix in person_matrices(members, contents):
        apart = matrix.complete and np.gcd.reduce(matrix.sizes.astype(int)) >= e
        for part in matrix.components() if apart else [matrix]:
            caught, left = _caught(part, e, deadline)
            named += [person for column in caught for person in part.people[int(column)]]
            undecided += left
    return pl.DataFrame({"person": pl.Series(named, dtype=members.schema["person"])}), undecided


def _caught(matrix: PersonMatrix, e: int, deadline: float) -> tuple[np.ndarray, int]:
    """The columns that take part in an attack with e' < e, and the people it was too late to ask about."""
    caught, undecided = _caught_by_pairs(matrix, e), 0
    if matrix.rows.shape[0] > SEARCH_LIMIT:
        return np.flatnonzero(caught), int(matrix.copies[~caught & matrix.movable(e)].sum())
    for column in _reached(matrix, e):
        if not caught[column]:
            attack, complete = _solve(matrix, e, int(column), [], deadline)
            if attack is not None:
                caught[attack.caught] = True
            elif not complete:
                undecided += int(matrix.copies[column])
    return np.flatnonzero(caught), undecided


def _caught_by_pairs(matrix: PersonMatrix, e: int) -> np.ndarray:
    """bool[C]: the columns in which two partitions with as many tuples differ, where they differ in < e."""
    caught = np.zeros(len(matrix.copies), dtype=bool)
    shared = (matrix.rows @ diags_array(matrix.copies) @ matrix.rows.T).tocoo()
    sizes = matrix.rows @ matrix.copies
    cost = sizes[shared.row] + sizes[shared.col] - 2 * shared.data
    alike = matrix.multiples[shared.row] == matrix.multiples[shared.col]
    close = np.flatnonzero((shared.row < shared.col) & alike & (cost > 0) & (cost < 2 * e))
    differing = matrix.rows[shared.row[close]] - matrix.rows[shared.col[close]]
    caught[differing.tocoo().col[differing.tocoo().data != 0]] = True
    return caught


def _reached(matrix: PersonMatrix, below: int) -> np.ndarray:
    """Columns that can have a weight at all once those too many to move are held still."""
    return np.flatnonzero(matrix.movable(below)) if _basis(matrix, below) else np.empty(0, dtype=int)


def person_matrices(members: pl.DataFrame, contents: pl.DataFrame) -> Iterator[PersonMatrix]:
    """The person and value matrices, one for each set of linearly dependent value vectors.

    Parameters
    ----------
    members, contents
        As for `minimum_equivalence`.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Definition 9, section VI-A.
    """
    vectors = (
        contents.sort("partition", "value")
        .group_by("partition", maintain_order=True)
        .agg(
            "value",
            (pl.col("tuples") / pl.col("tuples").first()).alias("direction"),
            pl.col("tuples").first().alias("multiple"),
            pl.col("tuples").sum().alias("size"),
        )
        .with_columns(pl.struct("value", "direction").rank("dense").alias("signature"))
    )
    columns = (
        members.join(vectors.select("partition", "signature"), on="partition", how="inner")
        .sort("partition")
        .group_by("signature", "person")
        .agg("partition")
        .group_by("signature", "partition")
        .agg("person")
    )
    for (signature,), rows in vectors.sort("signature").group_by("signature", maintain_order=True):
        yield PersonMatrix.read(rows, columns.filter(pl.col("signature") == signature))


@dataclass(frozen=True)
class PersonMatrix:
    """The partitions of one signature: who is in them, and how much of the signature they hold."""

    signature: tuple
    rows: csr_array
    """float64[N, C]: 1 where the people of a column are in the partition of a row."""
    multiples: np.ndarray
    """float64[N]: the partition's value vector, as a multiple of the signature's."""
    sizes: np.ndarray
    """float64[N]: tuples in the partition."""
    copies: np.ndarray
    """float64[C]: the people in a column."""
    people: pl.Series
    """list[C]: who they are."""

    @classmethod
    def read(cls, rows: pl.DataFrame, columns: pl.DataFrame) -> PersonMatrix:
        """The matrix of some partitions (`partition`, `value`, `multiple`, `size`) and columns."""
        entries = columns.with_row_index("column").select("column", "partition").explode("partition")
        entries = entries.join(rows.with_row_index("row").select("row", "partition"), on="partition")
        at = entries["row"].to_numpy(), entries["column"].to_numpy()
        return cls(
            signature=tuple(rows["value"][0]),
            rows=csr_array((np.ones(len(entries)), at), shape=(len(rows), len(columns))),
            multiples=rows["multiple"].to_numpy().astype(float),
            sizes=rows["size"].to_numpy().astype(float),
            copies=columns["person"].list.len().to_numpy().astype(float),
            people=columns["person"],
        )

    @property
    def complete(self) -> bool:
        """Whether every tuple is somebody's: then as many people are on one side as on the other."""
        return bool(np.array_equal(self.rows @ self.copies, self.sizes))

    def movable(self, below: int) -> np.ndarray:
        """bool[C]: columns few enough to take part in an attack with e < below."""
        return self.copies < below if self.complete else self.copies <= 2 * (below - 1)

    def components(self) -> list[PersonMatrix]:
        """The parts no person connects."""
        graph = self.rows @ self.rows.T
        count, label = connected_components(graph, directed=False)
        return [self._restricted(label == part) for part in range(count)] if count > 1 else [self]

    def _restricted(self, chosen: np.ndarray) -> PersonMatrix:
        rows = self.rows[chosen]
        columns = np.flatnonzero(rows.sum(axis=0))
        return PersonMatrix(
            self.signature,
            csr_array(csc_array(rows)[:, columns]),
            self.multiples[chosen],
            self.sizes[chosen],
            self.copies[columns],
            self.people.gather(columns),
        )


@dataclass(frozen=True)
class _Attack:
    e: int
    witness: tuple[tuple, tuple]
    caught: np.ndarray
    """int[]: the columns that take part, of the matrix that was searched."""


def _attack(matrix: PersonMatrix, weights: np.ndarray) -> _Attack:
    """What columns' weights say: those above 0 have the same values as those below."""
    sides = tuple(
        tuple(
            person
            for column in np.flatnonzero(weights * sign > 0)
            for person in matrix.people[int(column)]
            for _ in range(int(abs(weights[column])))
        )
        for sign in (1, -1)
    )
    e = int(matrix.copies @ np.abs(weights)) // 2
    return _Attack(e, sides, np.flatnonzero(weights))


def _smallest(matrix: PersonMatrix, deadline: float) -> tuple[_Attack | None, int | None]:
    """The smallest attack, and the bound below which there is proven to be none."""
    best, at_least = _smallest_pair(matrix), 1
    parts = matrix.components()
    bounds = []
    for part in parts:
        found, bound = _search(part, best, deadline)
        best = found or best
        bounds.append(bound)
    # Unconnected parts must cancel each other's people: each moves at least the common divisor of sizes.
    apart = int(np.gcd.reduce(matrix.sizes.astype(int))) if matrix.complete else 1
    limit = None if best is None else best.e
    at_least = min(
        [bound for bound in bounds if bound is not None] + ([limit] if limit else []), default=None
    )
    if len(parts) > 1 and (at_least is None or at_least > apart):
        if matrix.rows.shape[0] > SEARCH_LIMIT:
            return best, apart
        found, joint = _search(matrix, best, deadline, begin=apart)
        best, at_least = found or best, joint
    return best, at_least


def _smallest_pair(matrix: PersonMatrix) -> _Attack | None:
    """The smallest attack by subtracting one partition from another: quick, and often the smallest."""
    best, weights = None, None
    for multiple in np.unique(matrix.multiples):
        alike = matrix.rows[np.flatnonzero(matrix.multiples == multiple)]
        alike = alike[np.unique(_fingerprints(alike), return_index=True)[1]]
        if alike.shape[0] < 2:
            continue
        shared = (alike @ diags_array(matrix.copies) @ alike.T).tocoo()
        sizes = alike @ matrix.copies
        cost = sizes[shared.row] + sizes[shared.col] - 2 * shared.data
        cost[shared.row == shared.col] = np.inf
        first, second = (
            (shared.row[cost.argmin()], shared.col[cost.argmin()])
            if np.isfinite(cost.min())
            else np.argsort(sizes, kind="stable")[:2]
        )
        difference = (alike[[int(first)]] - alike[[int(second)]]).toarray().ravel()
        found = matrix.copies @ np.abs(difference)
        if found and (best is None or found < best):
            best, weights = found, difference
    return None if weights is None else _attack(matrix, weights)


def _fingerprints(rows: csr_array) -> np.ndarray:
    """A number for each row, the same for the same columns."""
    numbers = np.random.default_rng(0).integers(1, 2**40, rows.shape[1]).astype(float)
    return rows @ numbers


def _search(
    matrix: PersonMatrix, best: _Attack | None, deadline: float, begin: int = 1
) -> tuple[_Attack | None, int | None]:
    """An attack smaller than `best` (or None), and the bound proven; no bound (None) if there is none."""
    found, below = None, begin
    if matrix.rows.shape[0] > SEARCH_LIMIT:
        return None, begin
    total = int(matrix.copies.sum()) + 1
    upper = best.e if best else total
    while below < upper:
        below = min(max(2, 2 * below), upper)
        if time.monotonic() > deadline:
            return found, max(begin, below // 2)
        zero: list[int] = []
        for column in _basis(matrix, below):
            attack, complete = _solve(matrix, min(below, upper), column, zero, deadline)
            if not complete:
                return found, max(begin, below // 2)
            if attack is not None:
                found, upper = attack, attack.e
            zero.append(column)
        if found is not None and upper <= below:
            break
    return found, (upper if best or found else None)


def _basis(matrix: PersonMatrix, below: int) -> list[int]:
    """Columns of which at least one has a weight in every attack with e < below; none, if there is none."""
    movable = np.flatnonzero(matrix.movable(below))
    dense = matrix.rows.toarray()
    fixed = np.column_stack([np.delete(dense, movable, axis=1), matrix.multiples])
    free = null_space(fixed.T, rcond=1e-9)
    if free.shape[1] == 0 or len(movable) == 0:
        return []
    _, triangle, order = qr(free.T @ dense[:, movable], mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(triangle)) > 1e-7).sum())
    return movable[order[:rank]].tolist()


def _solve(
    matrix: PersonMatrix, below: int, nonzero: int, zero: list[int], deadline: float
) -> tuple[_Attack | None, bool]:
    """The smallest attack with e < below that moves one column and leaves others alone.

    The weights are whole numbers (Lemma 2), and so is then what they do to a person.
    """
    movable = np.flatnonzero(matrix.movable(below))
    if nonzero not in movable:
        return None, True
    left = deadline - time.monotonic()
    if left <= 0:
        return None, False
    n, k = matrix.rows.shape[0], len(movable)
    columns = csr_array(matrix.rows.T)
    still = np.setdiff1d(np.arange(len(matrix.copies)), movable)
    copies = matrix.copies[movable]
    most = (below - 1) // copies if matrix.complete else 2 * (below - 1) // copies
    fixed = np.isin(movable, zero)
    identity = eye_array(k)
    # Variables: weights of rows; what they do to each movable column; its absolute value.
    constraints = [
        LinearConstraint(hstack([columns[movable], -identity, csr_array((k, k))]), 0, 0),
        LinearConstraint(hstack([csr_array((k, n)), identity, -identity]), -np.inf, 0),
        LinearConstraint(hstack([csr_array((k, n)), identity, identity]), 0, np.inf),
        LinearConstraint(np.concatenate([matrix.multiples, np.zeros(2 * k)])[None, :], 0, 0),
        LinearConstraint(np.concatenate([np.zeros(n + k), copies])[None, :], 2, 2 * (below - 1)),
    ]
    if len(still):
        constraints.append(LinearConstraint(hstack([columns[still], csr_array((len(still), 2 * k))]), 0, 0))
    low, high = np.where(fixed, 0, -most), np.where(fixed, 0, most)
    low[movable == nonzero] = 1
    programme = {
        "c": np.concatenate([np.zeros(n + k), copies]),
        "integrality": np.concatenate([np.ones(n), np.zeros(2 * k)]),
        "bounds": Bounds(
            np.concatenate([np.full(n, -np.inf), low, np.zeros(k)]),
            np.concatenate([np.full(n, np.inf), high, np.full(k, np.inf)]),
        ),
        "constraints": constraints,
    }
    solved = milp(**programme, options={"time_limit": left})
    if solved.status not in DECIDED:
        # Numerical trouble after presolving; the programme as it stands is small enough.
        left = max(deadline - time.monotonic(), 0.1)
        solved = milp(**programme, options={"time_limit": left, "presolve": False})
    if solved.x is None:
        return None, solved.status == 2
    weights = np.zeros(len(matrix.copies))
    weights[movable] = np.round(solved.x[n : n + k])
    return _attack(matrix, weights), solved.status == 0
