"""Views: errors, distortion and seconds on Adult.

Section 6 of Wang and Fung, *Anonymizing Sequential Releases* (KDD 2006), on the 45,222 records of Adult
without missing values. Errors are those of a scikit-learn tree (entropy, cost-complexity pruning) on the
test records. The hierarchies are not the paper's: education has four levels instead of five, work class
three, marital status three, race two; relationship's is ours. In the paper's words: TopN is an X of the N
top ranked columns of the view, all join attributes and all columns of the earlier release. BLE is the error
on the raw view, RJE without the join attributes, KAE on the k-anonymous view, XYE on the published one,
with Y the people of the view or the rows of the earlier release (row); RSE is the error without the
sensitive columns; unpruned are errors of trees that are grown to leaves of ten records. XYD and KAD are
units of distortion per record, of categories and of numbers.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier

from benchmarks.real_data import ADULT_COLUMNS, adult_hierarchy, data_folder, is_here
from benchmarks.series import contract_of
from benchmarks.tables import Table, main
from republish.anonymize.contract import CategoryColumn, ViewContract
from republish.anonymize.errors import NotEligible
from republish.anonymize.sequential.matching import Pairs, code_view, read_earlier, unrelated
from republish.anonymize.sequential.specialize import Specialized, specialize

QUICK = {"records": 2_000, "thresholds": (200,), "confidences": (0.9,), "tops": 1}

SEED = 2006
SHORT = {
    "Ag": "age", "Cg": "capital-gain", "Cl": "capital-loss", "En": "education-num", "Fw": "fnlwgt",
    "H": "hours-per-week", "E": "education", "O": "occupation", "W": "workclass", "M": "marital-status",
    "Re": "relationship", "S": "sex", "Nc": "native-country", "Ra": "race", "Class": "class",
}  # fmt: skip
NUMBERS = {
    "Ag": (17, 90), "Cg": (0, 99999), "Cl": (0, 4356), "En": (1, 16), "Fw": (13492, 1490400), "H": (1, 99),
}  # fmt: skip
RELATIONSHIPS = [
    ["Husband", "Spouse", "*"], ["Wife", "Spouse", "*"], ["Own-child", "Relative", "*"],
    ["Other-relative", "Relative", "*"], ["Not-in-family", "Alone", "*"], ["Unmarried", "Alone", "*"],
]  # fmt: skip
COMMON = ["M", "Re", "S"]
SET_A = ["M", "Re", "S", "E", "O", "W"]
SET_B = ["Cg", "Ag", "M", "En", "Re", "H", "S", "E", "O", "W", "Cl", "Fw"]
T2 = ["M", "Re", "S", "Nc", "Ra"]
TRAINING = 30_162


def read_adult(folder: Path) -> pl.DataFrame:
    """The 45,222 rows of Adult without missing values, training rows first, under the paper's short names."""
    parts = [
        pl.read_csv(folder / "adult" / name, has_header=False, new_columns=ADULT_COLUMNS, infer_schema=False)
        for name in ("adult.data", "adult.test")
    ]
    rows = pl.concat(parts).with_columns(pl.all().str.strip_chars(" .")).drop_nulls()
    rows = rows.filter(pl.all_horizontal(pl.all() != "?"))
    return rows.select(
        (pl.col(name).cast(pl.Int64) if short in NUMBERS else pl.col(name)).alias(short)
        for short, name in SHORT.items()
    ).with_columns(pl.col("Class").str.to_uppercase())


def declare(folder: Path, name: str, *, keep: bool) -> dict[str, Any]:
    """A column of the contract."""
    if name == "Class":
        return {"name": name, "kind": "category", "order": ["<=50K", ">50K"], "keep": True}
    if name in NUMBERS:
        return {"name": name, "kind": "number", "domain": list(NUMBERS[name]), "keep": keep}
    paths = RELATIONSHIPS if name == "Re" else adult_hierarchy(folder, SHORT[name])
    return {"name": name, "kind": "category", "hierarchy": paths, "keep": keep}


def contract(folder: Path, names: Sequence[str], previous: bool, **principle: Any) -> ViewContract:
    """A view of columns, joined with T2 or with nothing."""
    kept = [name for name in names if name not in principle["x"]]
    declared = {
        "product": "adult",
        "series": "v1",
        "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
        "identifier": "K1",
        "columns": [declare(folder, name, keep=name in kept) for name in [*names, "Class"]],
    }
    earlier = [{"path": "T2", "columns": T2, "record": "K2"}] if previous else []
    return contract_of(declared, name="sequential", previous=earlier, **principle)


class Outcome(NamedTuple):
    """One specialization, and how long it took from tables to cuts."""

    found: Specialized
    seconds: float
    cpu: float


def run(rows: pl.DataFrame, earlier: pl.DataFrame | None, view: ViewContract) -> Outcome:
    """Specialize a view of the rows; NotEligible where nothing satisfies the requirement."""
    names = [column.name for column in view.columns]
    table = rows.select(pl.col(name).alias(f"column_{i}") for i, name in enumerate(names))
    began, cpu = time.perf_counter(), time.process_time()
    coded = code_view(table, view.columns, view.principle.x)
    releases = []
    if view.principle.previous:
        t2 = earlier.select(pl.col(name).alias(f"column_{i}") for i, name in enumerate(T2))
        releases = [read_earlier(t2, T2, view.columns, "T2", "K2")]
        if unrelated(coded, releases[0], Pairs.of(view)) != (0, 0):
            raise ValueError("T1 and T2 are of one population")
    found = specialize(coded, releases, view)
    return Outcome(found, time.perf_counter() - began, time.process_time() - cpu)


def features(rows: pl.DataFrame, names: Sequence[str], found: Specialized | None) -> np.ndarray:
    """What a tree learns from: an indicator for each label, the place of an interval or the number itself."""
    columns = []
    for name in names:
        if found is not None and name in found.node:
            codes, ordered = found.node[name], name in NUMBERS
        elif name in NUMBERS:
            codes, ordered = rows[name].to_numpy(), True
        else:
            codes, ordered = rows[name].rank("dense").to_numpy().astype(np.int64) - 1, False
        columns.append(
            codes[:, None].astype(np.float32) if ordered else np.eye(codes.max() + 1, dtype=np.float32)[codes]
        )
    return np.hstack(columns)


def error(
    rows: pl.DataFrame, names: Sequence[str], found: Specialized | None = None, *, pruned: bool = True
) -> float:
    """The share of test rows that a tree learnt on the training rows gets wrong."""
    values, classes = features(rows, names, found), (rows["Class"] == ">50K").to_numpy()
    # Grown to the end and pruned by cost and complexity, in place of C4.5's pessimistic pruning.
    pruning = {"min_samples_leaf": 4, "ccp_alpha": 2e-4} if pruned else {"min_samples_leaf": 10}
    tree = DecisionTreeClassifier(criterion="entropy", random_state=SEED, **pruning)
    tree.fit(values[:TRAINING], classes[:TRAINING])
    return float((tree.predict(values[TRAINING:]) != classes[TRAINING:]).mean())


def distortion(view: ViewContract, found: Specialized) -> tuple[float, float]:
    """Units of distortion per record, of categories and of numbers (section 6)."""
    categories = numbers = 0.0
    for column in view.columns:
        if column.name not in found.cuts:
            continue
        cut, records = found.cuts[column.name], len(found.node[column.name])
        if isinstance(column, CategoryColumn):
            heights = {label: level for path in column.paths for level, label in enumerate(path)}
            above = np.array([heights[label] for label in cut.labels])
            categories += (above * cut.records).sum() / records
        else:
            low, high = column.domain
            wide = np.array([node > 1 for node in cut.high - cut.low])
            numbers += ((cut.high - cut.low) * wide * cut.records).sum() / (high - low) / records
    return categories, numbers


def top_anonymity(names: Sequence[str], top: int) -> list[str]:
    """TopN: the N top ranked attributes of T1, all join attributes, all attributes of T2."""
    return list(dict.fromkeys([*names[:top], *COMMON, *T2]))


def anonymity(
    folder: Path, rows: pl.DataFrame, names: Sequence[str], tops: Sequence[int], ks: Sequence[int]
) -> Iterator[list[Any]]:
    """Section 6.1: averages over the thresholds."""

    def measured(x: Sequence[str], y: list[str], *, previous: bool = True) -> np.ndarray:
        """Error, distortion of categories and of numbers; seconds of all processors, at most."""
        found = []
        for k in ks:
            wanted = {"requirement": "anonymity", "k": k, "x": list(x), "y": y}
            for_class, for_all = (
                contract(folder, names, previous, information=information, **wanted)
                for information in ("class:Class", "distortion")
            )
            classified, undistorted = run(rows, rows, for_class), run(rows, rows, for_all)
            units = distortion(for_all, undistorted.found)
            found.append((error(rows, names, classified.found), *units, classified.cpu, undistorted.cpu))
        return np.array([*np.mean(found, axis=0)[:3], np.max(found, axis=0)[3:].max()])

    k_anonymous = measured(names, ["K1"], previous=False)
    for top in tops:
        x = top_anonymity(names, top)
        ours, by_row = measured(x, ["K1"]), measured(x, ["K1", "K2"])
        errors = (f"{one:.1%}" for one in (ours[0], by_row[0], k_anonymous[0]))
        units = (f"{one:.2f}" for one in (ours[1], k_anonymous[1], ours[2], k_anonymous[2]))
        yield [f"Top{top}", *errors, *units, float(max(ours[3], by_row[3]))]


def linkability(
    folder: Path, rows: pl.DataFrame, names: Sequence[str], tops: Sequence[int], ks: Sequence[float]
) -> Iterator[list[Any]]:
    """Section 6.2: Y is the top categories of T1, sensitive are the rarer half of their values."""
    for top in tops:
        y = SET_A[:top]
        x = [name for name in names if name not in y]
        rare = {name: rarer_half(rows[name]) for name in y}
        errors, unpruned, spent, unsolved = [], [], [], []
        for k in ks:
            limits = {name: dict.fromkeys(values, k) for name, values in rare.items()}
            wanted = {"requirement": "linkability", "information": "class:Class", "x": x, "y": y, "k": limits}
            try:
                found = run(rows, rows, contract(folder, names, True, **wanted))
            except NotEligible:
                unsolved.append(f"{k:.0%}")
                continue
            errors.append(error(rows, names, found.found))
            unpruned.append(error(rows, names, found.found, pruned=False))
            spent.append(found.cpu)
        yield [
            f"Top{top}",
            f"{np.mean(errors):.1%}" if errors else None,
            f"{error(rows, x):.1%}",
            f"{np.mean(unpruned):.1%}" if errors else None,
            f"{error(rows, x, pruned=False):.1%}",
            " ".join(unsolved) or "-",
            max(spent, default=None),
        ]


def rarer_half(values: pl.Series) -> list[str]:
    """The 50 % least frequent values."""
    counts = values.value_counts().sort("count", values.name)
    return counts[values.name].head(counts.height // 2).to_list()


def enlarged(
    rows: pl.DataFrame, names: Sequence[str], x: Sequence[str], records: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Variations of the records: some attributes of X are drawn anew, the others inherited (section 6.1)."""
    copies = rows.select(names)[np.resize(np.arange(rows.height), records)]
    varied = np.arange(records) >= rows.height
    new = {}
    for name in x:
        drawn = rng.choice(rows[name].unique().sort().to_numpy(), records)
        chosen = varied & (rng.random(records) < 0.5)
        new[name] = pl.select(
            pl.when(pl.Series(chosen)).then(pl.Series(drawn)).otherwise(copies[name])
        ).to_series()
    return copies.with_columns(values.alias(name) for name, values in new.items())


def scale(folder: Path, rows: pl.DataFrame, records: int) -> Iterator[list[Any]]:
    """Top6 anonymity with k = 40, and Top1 linkability with k = 90 %, on Set A enlarged."""
    rng = np.random.default_rng(SEED)
    drawn = list(dict.fromkeys([*SET_A, *T2]))
    big = enlarged(rows, [*drawn, "Class"], drawn, records, rng)
    for_y = big.with_columns(rows["M"][np.resize(np.arange(rows.height), records)].alias("M"))
    rare, x = dict.fromkeys(rarer_half(rows["M"]), 0.9), top_anonymity(SET_A, 6)
    cases = {
        "anonymity Top6, k = 40": (big, {"requirement": "anonymity", "k": 40, "x": x, "y": ["K1"]}),
        "the same, Y = {K1, K2}": (big, {"requirement": "anonymity", "k": 40, "x": x, "y": ["K1", "K2"]}),
        "linkability Top1, k = 90 %": (
            for_y, {"requirement": "linkability", "k": {"M": rare}, "x": SET_A[1:], "y": ["M"]},
        ),
    }  # fmt: skip
    for what, (table, principle) in cases.items():
        found = run(table, table, contract(folder, SET_A, True, information="class:Class", **principle))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        yield [what, found.seconds, found.cpu, found.found.specializations, memory]


def tables(
    records: int = 1_000_000,
    thresholds: tuple[int, ...] = (40, 80, 120, 160, 200),
    confidences: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9),
    tops: int = 5,
) -> Iterator[Table]:
    """All tables; of so many X and Y at most."""
    if not is_here():
        return
    folder = data_folder()
    rows = read_adult(folder)
    warm = {"requirement": "anonymity", "k": 200, "x": top_anonymity(SET_A, 3), "y": ["K1"]}
    run(rows, rows, contract(folder, SET_A, True, **warm))
    for name, names, shown in (("A", SET_A, (3, 4, 5, 6)), ("B", SET_B, (3, 4, 5, 6, 7))):
        rest = [column for column in names if column not in COMMON]
        base = f"Set {name}: BLE {error(rows, names):.1%}, RJE {error(rows, rest):.1%}"
        yield Table(
            f"{base}; anonymity, averages over k",
            ("X", "XYE", "XYE(row)", "KAE", "XYD cat", "KAD cat", "XYD cont", "KAD cont", "CPU, at most"),
            list(anonymity(folder, rows, names, shown[:tops], thresholds)),
        )
        yield Table(
            f"{base}; linkability, averages over k",
            ("Y", "XYE", "RSE", "XYE, unpruned", "RSE, unpruned", "no solution at k", "CPU, at most"),
            list(linkability(folder, rows, names, (1, 2, 3, 4)[:tops], confidences)),
        )
    yield Table(
        f"Set A enlarged by variations as in section 6.1, {records:,} records per table",
        ("requirement", "seconds", "CPU", "specializations", "peak memory, MB"),
        list(scale(folder, rows, records)),
    )


if __name__ == "__main__":
    main(tables)
