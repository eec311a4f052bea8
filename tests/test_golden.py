"""What each principle publishes of fixed made-up people, what is found in it and what it answers.

No byte changes by accident:

`golden.json` has two digests for each release: of the published tables (names, columns and rows), and of what
is said beside them (README.md, datapackage.json, and the manifest without versions and hashes).
Of some cases, `golden_findings.json` has what an audit finds in each promise and measures of each release and
what `estimate` answers. After a change on purpose, write the files anew with

    PYTHONPATH=. .venv/bin/python -m tests.test_golden

and say in the commit and in changelog.d/ which digests changed, and why.
"""

import datetime as dt
import functools
import hashlib
import io
import json
import os
import random
import tempfile
from pathlib import Path

import polars as pl
import pytest
import yaml
from rich.console import Console

from republish.anonymize.errors import RepublishError
from republish.orchestration.audit.command import audit
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.parts import table_files
from tests.hospital import KEY, make
from tests.once import (  # noqa: F401 - for all tests here
    what_is_met_is_seen_without_asking,
)

GOLDEN = Path(__file__).with_name("golden.json")
FINDINGS = Path(__file__).with_name("golden_findings.json")
DIGITS = 6
RELEASES = ("2024-01-01", "2025-01-01", "2026-01-01")
PEOPLE = 480
TOWNS = ("Ayton", "Beeford", "Ceeham", "Deeley", "Eastwick", "Farnley")
DISEASES = ("asthma", "bronchitis", "diabetes", "flu", "gastritis", "gout", "migraine", "none", "stroke")
TREATMENTS = ("diet", "drug", "rest", "surgery", "talk")

INVARIANCE = {"name": "m_invariance", "m": 3}
PRINCIPLES = {
    "m_invariance": INVARIANCE | {"on_ineligible": "counterfeit", "people_per_group": 2},
    "m_invariance, waits": INVARIANCE | {"on_ineligible": "wait"},
    "m_invariance, refuses": INVARIANCE,
    "m_invariance, anatomy": INVARIANCE | {"on_ineligible": "wait", "format": "anatomy"},
    "m_invariance, weighs": {"name": "m_invariance", "m": 4},
    "m_invariance, several rows": INVARIANCE | {"values_per_person": 2},
    "m_invariance, missing": INVARIANCE | {"on_ineligible": "wait"},
    "e_equivalence": {"name": "e_equivalence", "m": 2, "e": 2, "on_ineligible": "wait"},
    "global_guarantee": {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 2},
    "streamliner": {
        "name": "streamliner",
        "l": 3,
        "method": "gda",
        "then": "m_invariance",
        "on_ineligible": "wait",
    },
    "streamliner, rda": {"name": "streamliner", "l": 2, "method": "rda"},
    "sequential": {
        "name": "sequential",
        "requirement": "linkability",
        "k": 0.6,
        "x": ["age", "town"],
        "y": ["disease"],
        "previous": [{"path": "earlier.csv", "columns": ["town", "disease"]}],
    },
}
DISEASE = {"name": "disease", "values": list(DISEASES)}
SENSITIVE = {
    "disease": DISEASE,
    "disease and treatment": [DISEASE, {"name": "treatment", "values": list(TREATMENTS)}],
    "disease, none may be known": DISEASE | {"not_sensitive": ["none"]},
    "cost": {"name": "cost", "kind": "number", "bins": [0, 100, 200, 400, 800, 1600, 3200]},
}
CASES = [
    f"{principle} of {sensitive} in {shards}"
    for principle in PRINCIPLES
    for sensitive in SENSITIVE
    for shards in (1, 3)
    if sensitive == "disease" or principle.startswith("m_invariance")
    if shards == 1 or principle != "sequential"
    if shards == 1 or sensitive == "disease" or principle == "m_invariance, refuses"
    if principle != "m_invariance" or sensitive != "disease and treatment"  # refused with counterfeits
    if sensitive == "disease" or not any(one in principle for one in ("rows", "missing"))  # say no more
]
"""A principle, the sensitive columns, and into how many shards the people are divided.

Shards are put together in one way under every principle, so one of them divides all kinds of columns.
"""

EXAMINED = [
    f"{case} in 1"
    for case in (
        *(f"{principle} of disease" for principle in PRINCIPLES if "," not in principle),
        "m_invariance, several rows of disease",
        "m_invariance, missing of disease",
        "m_invariance, waits of disease and treatment",
    )
] + ["m_invariance of disease in 3"]
"""Each principle, rows, missing values, two columns, and shards: what is found in them and answered."""
QUESTIONS = [
    {"where": "disease = 'flu' AND age > 40"},
    {"where": "town IN ('Ayton', 'Deeley')", "by": "disease"},
    {"where": "height < 1.75", "by": ["town"]},
    {"of": "avg(age)"},
    {"where": "disease = 'gout'", "by": "town", "change": True},
]


@functools.cache
def people(release: int, *, changing: bool = True) -> pl.DataFrame:
    """The people of a release: a tenth enters and a tenth is absent each time; a fifth changes value once.

    Not where they are not `changing`: of several columns, a changed value is refused.
    """
    rows = []
    for person in range(PEOPLE + 48 * release):
        of_person = random.Random(person)
        stays = [of_person.random() < 0.9 for _ in RELEASES]
        has = [of_person.choices(range(9), weights=(3, 2, 2, 4, 2, 2, 2, 4, 1))[0] for _ in RELEASES]
        changes_in = of_person.choices((None, 1, 2), weights=(8, 1, 1))[0]
        has_changed = changing and changes_in is not None and release >= changes_in
        disease = has[1] if has_changed else has[0]
        if stays[release]:
            rows.append(
                {
                    "person": f"P{person:05}",
                    "age": of_person.randint(18, 90) + release,
                    "town": of_person.choice(TOWNS),
                    "height": round(of_person.uniform(1.5, 2.0), 2),
                    "disease": DISEASES[disease],
                    "treatment": TREATMENTS[(disease + (person % 3)) % 5],
                    "cost": of_person.choice((0, 50, 120, 150, 250, 330, 500, 700, 1000, 1500, 3000)),
                }
            )
    return pl.DataFrame(rows)


def visits(release: int) -> pl.DataFrame:
    """Rows of the same people, a third of whom have another one in another town."""
    first = people(release)
    second = first.filter(pl.col("person").str.tail(1).is_in(["0", "3", "6"]))
    places = {disease: DISEASES[(at + 4) % 9] for at, disease in enumerate(DISEASES)}
    second = second.with_columns(pl.col("disease").replace(places), town=pl.lit(TOWNS[2]))
    return pl.concat(
        [one.with_columns(visit=pl.col("person") + at) for one, at in ((first, "a"), (second, "b"))]
    )


def declared(principle: str, sensitive: str, shards: int) -> dict:
    """The contract of a case."""
    columns = [
        {"name": "age", "kind": "number", "domain": [0, 120], "min_width": 5},
        {"name": "town", "kind": "category", "order": list(TOWNS)},
        {"name": "height", "kind": "number", "domain": [1.0, 2.5], "min_width": 0.1},
    ]
    if principle == "e_equivalence" or PRINCIPLES[principle].get("format") == "anatomy":
        for column in columns:
            column.pop("min_width", None)  # quasi-identifiers are published as they are
    if "missing" in principle:
        columns = [{**column, "missing": "publish"} for column in columns]
    keys = {"quasi_identifiers": columns, "sensitive": SENSITIVE[sensitive]}
    if principle == "sequential":
        keys = {"columns": [{**column} for column in columns[:2]]}
        keys["columns"][0].pop("min_width")
    if principle == "global_guarantee":
        keys["sensitive"] = keys["sensitive"] | {"semantics": "transient"}
    return {
        "product": "golden",
        "series": "v1",
        "source": {"path": "{release}.parquet"},
        "releases": {"first": RELEASES[0], "cron": "0 0 1 1 *"},
        "identifier": "person",
        "expect": {"changed": 0.3},
        "principle": PRINCIPLES[principle] | ({"on_value_change": "refuse"} if "and" in sensitive else {}),
        **keys,
        **({"shards": shards} if shards > 1 else {}),
        **({"rows": "several", "row": "visit"} if "rows" in principle else {}),
    }


def delivered(case: str, folder: Path) -> Series:
    """The series of a case in a folder, with its contract and its snapshots: nothing is released yet."""
    principle, sensitive = case[:-5].split(" of ")
    folder.mkdir(exist_ok=True)
    for number, release in enumerate(RELEASES):
        at = 0 if principle == "sequential" else number
        table = visits(at) if "rows" in principle else people(at, changing="and" not in sensitive)
        if "missing" in principle:
            digit = pl.col("person").str.tail(1).cast(pl.Int64)
            gone = {"age": digit % 5 == 0, "town": digit % 4 == 0, "height": digit == 1}
            table = table.with_columns(pl.when(~gone[name]).then(pl.col(name)) for name in gone)
        table.write_parquet(folder / f"{release}.parquet")
    people(0).select("town", "disease").write_csv(folder / "earlier.csv")
    (folder / "golden.yaml").write_text(yaml.safe_dump(declared(principle, sensitive, int(case[-1]))))
    return Series(load_contract(folder / "golden.yaml"), Home.at(folder / "home"))


def publish(case: str, folder: Path) -> dict[str, dict[str, str]]:
    """The digests of a case's releases; of one that is refused, the error's name, and nothing after it."""
    series = delivered(case, folder)
    digests: dict[str, dict[str, str]] = {}
    for release in RELEASES:
        try:
            make(series, release)
        except RepublishError as error:
            digests[release] = {"refused": type(error).__name__}
            break
        digests[release] = of_release(series.published(release))
    return digests


def of_release(folder: Path) -> dict[str, str]:
    """The digests of a published folder."""
    manifest = json.loads((folder / "manifest.json").read_text())
    tables, words = hashlib.sha256(), hashlib.sha256()
    for name in sorted(manifest.pop("files")):
        if name.endswith(".parquet"):
            for file in table_files(folder, name.removesuffix(".parquet")):
                table = pl.read_parquet(file)
                tables.update(f"{name} {table.schema}\n{table.write_csv()}".encode())
        elif name == "datapackage.json":
            words.update(_without(json.loads((folder / name).read_text()), ("hash", "bytes")))
        else:
            words.update((folder / name).read_bytes())
    words.update(_without(manifest, ("contract_sha256", "software_version", "previous")))
    return {"tables": tables.hexdigest(), "words": words.hexdigest()}


def _without(described: dict, keys: tuple[str, ...]) -> bytes:
    """A JSON object as bytes without what differs from file to file and from version to version."""
    read = json.loads(
        json.dumps(described), object_hook=lambda one: {k: v for k, v in one.items() if k not in keys}
    )
    return json.dumps(read).encode()


def examined(case: str, folder: Path) -> dict:
    """What an audit finds in a case's releases (`publish`), and what they answer; no words."""
    series = folder / "home/published/golden/v1"
    audit(
        [series], folder, folder / "golden.yaml", out=folder / "report", console=Console(file=io.StringIO())
    )
    told = json.loads((folder / "report/audit.json").read_text())
    keys = ("people", "broken", "undecided", "found", "required", "holds", "broken_in")
    found = {
        "promises": {one["promise"]: [one[key] for key in keys] for one in told["promises"]},
        "figures": {one["release"]: one["figures"] for one in told["series"][0]["releases"]},
    }
    if not case.startswith("sequential"):  # a view answers nothing by itself
        found["answers"] = [
            [[str(one) if isinstance(one, dt.date) else one for one in row] for row in answer.rows()]
            for answer in (estimate(series, **question) for question in QUESTIONS)
        ]
    return json.loads(json.dumps(found), parse_float=lambda number: round(float(number), DIGITS))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A function that publishes a case once: its digests and its folder."""

    @functools.cache
    def of(case):
        folder = tmp_path_factory.mktemp("golden")
        return publish(case, folder), folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPUBLISH_KEY", KEY)
        yield of


SLOW = [pytest.mark.slow("makes three releases")]
QUICK = [case for case in EXAMINED if case.endswith("1")]
"""A case of each principle, several rows and two columns; the others are asked with the slow tests."""


@pytest.mark.parametrize("case", [pytest.param(one, marks=[] if one in QUICK else SLOW) for one in CASES])
def test_what_is_published_is_what_the_golden_digests_say(case, made):
    assert made(case)[0] == json.loads(GOLDEN.read_text())[case]


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("case", EXAMINED)
def test_what_is_found_and_answered_is_what_was(case, made):
    found, before = examined(case, made(case)[1]), json.loads(FINDINGS.read_text())[case]
    for part, content in found.items():
        assert content == before[part]


def test_every_case_has_golden_digests_and_most_publish_three_releases():
    golden = json.loads(GOLDEN.read_text())
    assert list(golden) == CASES
    assert sum(len(releases) == 3 and "refused" not in str(releases) for releases in golden.values()) > 25


def main() -> None:
    """Write both files anew, and say which cases changed."""
    os.environ["REPUBLISH_KEY"] = KEY
    before = [json.loads(file.read_text()) if file.exists() else {} for file in (GOLDEN, FINDINGS)]
    golden, findings = {}, {}
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            golden[case] = publish(case, Path(folder))
            if case in EXAMINED:
                findings[case] = examined(case, Path(folder))
        of_case = golden[case], findings.get(case)
        is_same = of_case == tuple(one.get(case) for one in before)
        print(f"{'same   ' if is_same else 'changed'} {case}")  # noqa: T201
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
    FINDINGS.write_text(json.dumps(findings, indent=None, separators=(",", ":")).replace("},", "},\n") + "\n")


if __name__ == "__main__":
    main()
