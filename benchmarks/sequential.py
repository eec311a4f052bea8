"""Sequential releases on Adult, as in section 6 of the paper: errors, distortion and time.

`python -m benchmarks.sequential` prints the tables of docs/sequential.md; with `scale`, the time for large
tables alone. Errors need scikit-learn; without it, distortion and time are measured.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, section 6.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anonymize.contract import CategoryColumn, ViewContract
from anonymize.errors import NotEligible
from anonymize.principles import parse_contract
from anonymize.sequential.matching import Pairs, code_view, read_earlier, unrelated
from anonymize.sequential.specialize import Specialized, specialize
from benchmarks.real_data import ADULT_COLUMNS, WHY_NOT, adult_hierarchy, data_folder

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
THRESHOLDS = (40, 80, 120, 160, 200)
CONFIDENCES = (0.1, 0.3, 0.5, 0.7, 0.9)
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
    return parse_contract(
        {
            "product": "adult",
            "series": "v1",
            "source": {"path": "{release}.csv"},
            "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
            "identifier": "K1",
            "columns": [declare(folder, name, keep=name in kept) for name in [*names, "Class"]],
            "principle": {
                "name": "sequential",
                "previous": [{"path": "T2", "columns": T2, "record": "K2"}] if previous else [],
                **principle,
            },
        }
    )


@dataclass(frozen=True)
class Outcome:
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


def error(rows: pl.DataFrame, names: Sequence[str], found: Specialized | None = None) -> float | None:
    """The share of test rows that a tree learnt on the training rows gets wrong; None without sklearn."""
    try:
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - the benchmark's alone
    except ImportError:
        return None
    values, classes = features(rows, names, found), (rows["Class"] == ">50K").to_numpy()
    # Grown to the end and pruned by cost and complexity, in place of C4.5's pessimistic pruning.
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=4, ccp_alpha=2e-4, random_state=SEED)
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
            heights = _heights(column)
            lengths = np.array([len(path) for path in column.paths])
            above = np.array([heights[label] for label in cut.labels])
            categories += (above * cut.records).sum() / records
            assert lengths.min() == lengths.max()
        else:
            low, high = column.domain
            wide = np.array([node > 1 for node in cut.high - cut.low])
            numbers += ((cut.high - cut.low) * wide * cut.records).sum() / (high - low) / records
    return categories, numbers


def _heights(column: CategoryColumn) -> dict[str, int]:
    """Generalizations from a leaf to each label."""
    return {label: level for path in column.paths for level, label in reversed(list(enumerate(path)))}


def top_anonymity(names: Sequence[str], top: int) -> list[str]:
    """TopN: the N top ranked attributes of T1, all join attributes, all attributes of T2."""
    return list(dict.fromkeys([*names[:top], *COMMON, *T2]))


def anonymity(
    folder: Path, rows: pl.DataFrame, names: Sequence[str], tops: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Section 6.1: averages over the thresholds."""
    k_anonymous = [
        _measured(folder, rows, names, previous=False, k=k, x=list(names), y=["K1"]) for k in THRESHOLDS
    ]
    for top in tops:
        x = top_anonymity(names, top)
        ours = [_measured(folder, rows, names, previous=True, k=k, x=x, y=["K1"]) for k in THRESHOLDS]
        by_row = [_measured(folder, rows, names, previous=True, k=k, x=x, y=["K1", "K2"]) for k in THRESHOLDS]
        yield {
            "X": f"Top{top}",
            "XYE": _mean(ours, "error"),
            "XYE(row)": _mean(by_row, "error"),
            "KAE": _mean(k_anonymous, "error"),
            "XYD cat": _mean(ours, "categories"),
            "KAD cat": _mean(k_anonymous, "categories"),
            "XYD cont": _mean(ours, "numbers"),
            "KAD cont": _mean(k_anonymous, "numbers"),
            "seconds, at most": max(one["seconds"] for one in [*ours, *by_row]),
            "CPU": max(one["cpu"] for one in [*ours, *by_row]),
        }


def _measured(
    folder: Path, rows: pl.DataFrame, names: Sequence[str], *, previous: bool, **principle: Any
) -> dict[str, Any]:
    """Errors of the view specialized for the class, distortion of the one specialized for distortion."""
    for_class = contract(
        folder, names, previous, requirement="anonymity", information="class:Class", **principle
    )
    for_all = contract(
        folder, names, previous, requirement="anonymity", information="distortion", **principle
    )
    classified, undistorted = run(rows, rows, for_class), run(rows, rows, for_all)
    categories, numbers = distortion(for_all, undistorted.found)
    return {
        "error": error(rows, names, classified.found),
        "categories": categories,
        "numbers": numbers,
        "seconds": max(classified.seconds, undistorted.seconds),
        "cpu": max(classified.cpu, undistorted.cpu),
    }


def linkability(folder: Path, rows: pl.DataFrame, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Section 6.2: Y is the top categories of T1, sensitive are the rarer half of their values."""
    for top in (1, 2, 3, 4):
        y = SET_A[:top]
        x = [name for name in names if name not in y]
        rare = {name: rarer_half(rows[name]) for name in y}
        errors, timed, unsolved = [], [], []
        for k in CONFIDENCES:
            view = contract(
                folder, names, True, requirement="linkability", information="class:Class", x=x, y=y,
                k={name: dict.fromkeys(values, k) for name, values in rare.items()},
            )  # fmt: skip
            try:
                found = run(rows, rows, view)
            except NotEligible:
                unsolved.append(f"{k:.0%}")
                continue
            errors.append({"error": error(rows, names, found.found)})
            timed.append(found)
        yield {
            "Y": f"Top{top}",
            "XYE": _mean(errors, "error"),
            "RSE": error(rows, [name for name in names if name not in y]),
            "no solution at k": " ".join(unsolved) or "-",
            "seconds, at most": max((one.seconds for one in timed), default=None),
            "CPU": max((one.cpu for one in timed), default=None),
        }


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


def scale(folder: Path, rows: pl.DataFrame, records: int) -> Iterator[dict[str, Any]]:
    """Top6 anonymity with k = 40, and Top1 linkability with k = 90 %, on Set A enlarged."""
    rng = np.random.default_rng(SEED)
    drawn = list(dict.fromkeys([*SET_A, *T2]))
    big = enlarged(rows, [*drawn, "Class"], drawn, records, rng)
    for_y = big.with_columns(rows["M"][np.resize(np.arange(rows.height), records)].alias("M"))
    rare = dict.fromkeys(rarer_half(rows["M"]), 0.9)
    cases = {
        "anonymity Top6, k = 40": (
            big, {"requirement": "anonymity", "k": 40, "x": top_anonymity(SET_A, 6), "y": ["K1"]},
        ),
        "the same, Y = {K1, K2}": (
            big, {"requirement": "anonymity", "k": 40, "x": top_anonymity(SET_A, 6), "y": ["K1", "K2"]},
        ),
        "linkability Top1, k = 90 %": (
            for_y, {"requirement": "linkability", "k": {"M": rare}, "x": SET_A[1:], "y": ["M"]},
        ),
    }  # fmt: skip
    for what, (table, principle) in cases.items():
        found = run(table, table, contract(folder, SET_A, True, information="class:Class", **principle))
        yield {
            "records per table": records,
            "requirement": what,
            "seconds": found.seconds,
            "CPU": found.cpu,
            "specializations": found.found.specializations,
            "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [row[name] for row in rows if row[name] is not None]
    return float(np.mean(values)) if values else None


def show(title: str, rows: Iterator[dict[str, Any]]) -> None:
    """Print a table."""
    print(f"\n{title}\n")
    for i, row in enumerate(rows):
        if i == 0:
            print(" | ".join(row), "\n" + " | ".join("---" for _ in row), sep="")
        print(" | ".join(_figure(name, value) for name, value in row.items()), flush=True)


def _figure(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1%}" if name.endswith(("E", "(row)")) else f"{value:.2f}"
    return str(value)


def main() -> None:
    """All tables, or those named."""
    folder = data_folder()
    if folder is None:
        sys.exit(WHY_NOT)
    chosen = set(sys.argv[1:]) or {"A", "B", "linkability", "scale"}
    rows = read_adult(folder)
    run(
        rows,
        rows,
        contract(folder, SET_A, True, requirement="anonymity", k=200, x=top_anonymity(SET_A, 3), y=["K1"]),
    )
    for name, names, tops in (("A", SET_A, (3, 4, 5, 6)), ("B", SET_B, (3, 4, 5, 6, 7))):
        rest = [column for column in names if column not in COMMON]
        if name in chosen or "linkability" in chosen:
            base = [{"BLE": error(rows, names), "RJE": error(rows, rest), "records": rows.height}]
            show(f"Set {name}", iter(base))
        if name in chosen:
            show(
                f"(X, Y)-anonymity, Set {name}: averages over k = 40 … 200",
                anonymity(folder, rows, names, tops),
            )
        if "linkability" in chosen:
            show(
                f"(X, Y)-linkability, Set {name}: averages over k = 10 … 90 %",
                linkability(folder, rows, names),
            )
    if "scale" in chosen:
        for records in (200_000, 1_000_000):
            show(f"{records} records per table", scale(folder, rows, records))


if __name__ == "__main__":
    main()
