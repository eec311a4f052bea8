"""Series whose columns changed after the first release: each release is read by the columns that it has."""

import copy
import functools
import itertools
import json
import shutil

import polars as pl
import pytest
import yaml

from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from tests.hospital import make
from tests.orchestration.audit.published_folders import seal
from tests.orchestration.cli.test_missing_values import PRINCIPLES, VALUES, declared, patients

pytestmark = pytest.mark.slow("makes and audits many releases")

RELEASES = [f"{year}-{month:02}-01" for year in (2024, 2025) for month in (1, 4, 7, 10)]
FIRST, SECOND, THIRD, *_ = RELEASES
OWN_COLUMNS = "have the columns that their contract declared"


CATALOGUED = {
    "title": "Patients",
    "description": "Patients of a clinic.",
    "contact": "mailto:clinic@example.org",
    "governance": {"controller": "The clinic"},
    "catalogue": {"address": "https://example.org/clinic", "access": "public"},
}


def contract_of(**rules):
    """A contract under which nothing is missing, if the rules do not say so."""
    refused = dict.fromkeys(("age", "admitted", "sex", "ward", "disease"), "refuse")
    contract = declared(**refused | rules)
    return contract | {"releases": {"first": FIRST, "cron": "0 0 1 */3 *", "last": FIRST}}


def with_column(at, **keys):
    """A change of a quasi-identifier."""

    def change(contract):
        column = contract["quasi_identifiers"][at]
        column.update(keys)
        for gone in [name for name, one in column.items() if one is None]:
            del column[gone]

    return change


def with_values(*values):
    """A change of the declared values."""
    return lambda contract: contract["sensitive"].update(values=list(values))


SEX = {"name": "sex", "kind": "category", "order": ["F", "M"]}
WARD = {"name": "ward", "kind": "category", "order": ["A", "B"]}
STEPS = [[str(age), f"{age // 10}0s", "any"] for age in range(121)]
CHANGES = {
    # Each is what the first contract has, what changes with the second release, and what this accepts.
    "an age may be missing": ({}, with_column(0, missing="publish"), ["age.missing"]),
    "a column comes first": (
        {"without": "sex"},
        lambda contract: contract["quasi_identifiers"].insert(0, dict(SEX)),
        ["sex"],
    ),
    "labels go": ({"order": ["A", "AB", "B"]}, with_column(-1, order=["A", "B"]), []),
    "a number becomes a category": (
        {},
        with_column(0, kind="category", domain=None, hierarchy=STEPS),
        ["age.kind"],
    ),
    "a wider domain": ({}, with_column(0, domain=[0, 130]), []),
}
SERIES = {
    # What the first contract has, and what changes with each release: the change, what it accepts, and the
    # columns that may be missing from then on.
    "numbers": (
        {},
        [
            (with_column(0, missing="publish"), ["age.missing"], ["age"]),
            (with_column(0, missing="refuse"), ["age.missing"], []),
            (with_column(0, min_width=5), [], []),
            (with_column(0, min_width=2), ["age.min_width"], []),
            (with_column(0, domain=[0, 130]), [], []),
            (with_column(0, domain=[0, 99]), [], []),
            (with_column(0, kind="category", domain=None, min_width=None, hierarchy=STEPS), ["age.kind"], []),
        ],
    ),
    "labels": (
        {"without": "ward"},
        [
            (lambda contract: contract["quasi_identifiers"].append(dict(WARD)), ["ward"], []),
            (with_column(3, order=["A", "AB", "B"]), [], []),
            (with_column(3, order=["A", "B"]), [], []),
            (with_column(3, order=["B", "A"]), ["ward.order"], []),
            (with_column(3, order=None, hierarchy=[["B", "any"], ["A", "any"]]), [], []),
            (lambda contract: contract["quasi_identifiers"].pop(), [], []),
        ],
    ),
    "values": (
        {},
        [
            (with_column(2, missing="publish"), ["sex.missing"], ["sex"]),
            (with_column(3, missing="leave_out"), ["ward.missing"], ["sex", "ward"]),
            (
                lambda contract: contract["sensitive"].update(missing="publish"),
                ["disease.missing", "changed"],
                ["sex", "ward", "disease"],
            ),
            (with_values("acne", *VALUES), ["sensitive.values"], ["sex", "ward", "disease"]),
            (with_values(*VALUES), ["sensitive.values"], ["sex", "ward", "disease"]),
            (lambda contract: contract["principle"].update(m=4), [], ["sex", "ward", "disease"]),
            (lambda contract: contract["principle"].update(m=2), ["m"], ["sex", "ward", "disease"]),
        ],
    ),
}
OTHER_COLUMNS = {"numbers": 7, "labels": 5, "values": 4}
"""How many releases have other columns than the last contract; what comes and goes again is as before."""


def without_nulls(table):
    """Patients of whom every value is known."""
    days = pl.date(2021, 1, 1)
    known = table.with_columns(
        pl.col("age").fill_null(50), pl.col("admitted").fill_null(days), pl.col("sex").fill_null("F")
    )
    return known.with_columns(
        pl.col("ward").fill_null("A"),
        disease=pl.when(pl.col("disease").is_null()).then(pl.lit("flu")).otherwise("disease"),
    )


@pytest.fixture(scope="module")
def first_releases(tmp_path_factory):
    """The home in which the first release was made under a contract, by its text: made once for all."""

    @functools.cache
    def made(text):
        folder = tmp_path_factory.mktemp("begun")
        (folder / "clinic.yaml").write_text(text)
        without_nulls(patients(240, 0, seed=1)[:160]).write_csv(folder / f"{FIRST}.csv")
        make(Series(load_contract(folder / "clinic.yaml"), Home.at(folder / "home")), FIRST)
        return folder / "home"

    return made


@pytest.fixture
def clinic(tmp_path, first_releases):
    """Three snapshots; in the second and the third, values are missing where a later contract has it so."""
    first, later = patients(240, 0, seed=1), patients(120, 240, seed=2)
    tables = [first[:160], pl.concat([first[20:], later[:40]]), pl.concat([first[40:], later])]

    def write(column, contract):
        for release, table in zip((FIRST, SECOND, THIRD), tables, strict=True):
            known = without_nulls(table)
            if release != FIRST and column is not None:
                known = known.with_columns(table[column])
            known.write_csv(tmp_path / f"{release}.csv")
        (tmp_path / "clinic.yaml").write_text(text := yaml.safe_dump(contract))
        shutil.copytree(first_releases(text), tmp_path / "home")

    write.folder = tmp_path
    return write


def begun(keys):
    """The contract of the first release."""
    contract = contract_of()
    if "without" in keys:
        columns = contract["quasi_identifiers"]
        contract["quasi_identifiers"] = [one for one in columns if one["name"] != keys["without"]]
    if "order" in keys:
        contract["quasi_identifiers"][-1]["order"] = keys["order"]
    return contract


def released(clinic, *names, **more):
    """Three releases; before each later one, the contract changes, if a change is left."""
    contract = (
        begun({key: kept for name in names for key, kept in CHANGES[name][0].items()}) | CATALOGUED | more
    )
    missing = [one for name in names for one in CHANGES[name][2] if one.endswith(".missing")]
    clinic(missing[0].partition(".")[0] if missing else None, contract)
    home, file = clinic.folder / "home", clinic.folder / "clinic.yaml"
    contract = copy.deepcopy(contract)
    for release, name in itertools.zip_longest((SECOND, THIRD), names):
        if name is not None:
            _, change, accept = CHANGES[name]
            change(contract)
            contract["accept"] = {release: accept} if accept else {}
        contract["releases"]["last"] = release
        file.write_text(yaml.safe_dump(contract))
        make(Series(load_contract(file), Home.at(home)), release)
    return home, file


@pytest.mark.parametrize("name", SERIES)
def test_a_series_is_audited_verified_and_counted_whatever_changed_in_it(tmp_path, republish, name):
    """Each release is made under a contract that has changed once more."""
    keys, changes = SERIES[name]
    contract, file, home = begun(keys) | CATALOGUED, tmp_path / "clinic.yaml", tmp_path / "home"
    everybody = pl.concat([patients(240, 0, seed=1), patients(260, 240, seed=2)])
    nothing = (lambda _: None, [], [])
    releases = RELEASES[: len(changes) + 1]
    for at, (release, (change, accept, lacking)) in enumerate(
        zip(releases, [nothing, *changes], strict=True)
    ):
        table = everybody[20 * at : 160 + 48 * at]
        without_nulls(table).with_columns(table[column] for column in lacking).write_csv(
            tmp_path / f"{release}.csv"
        )
        change(contract)
        contract["releases"]["last"] = release
        contract["accept"] = {release: accept} if accept else {}
        file.write_text(yaml.safe_dump(contract))
        make(Series(load_contract(file), Home.at(home)), release)
    published, private, out = home / "published/clinic/v1", home / "private/clinic/v1", tmp_path / "report"
    assert republish("verify", published)[0] == 0
    words = ("--contract", file, "--truth", tmp_path, "--private", private, "--seconds", "1")
    code, told, faults = republish("audit", published, *words, "--out", out)
    assert (code, [line for line in faults if not line.startswith("attacking")]) == (0, []), told
    told = json.loads((out / "audit.json").read_text())
    assert told["keeps_contract"]
    for one in told["series"][0]["releases"]:
        table = pl.read_parquet(published / one["release"] / "microdata.parquet")
        ends = {column.removesuffix("_low") for column in table.columns if column.endswith("_low")}
        assert set(one["useful"]["widths"]) == ends
    said = [f"whether {OTHER_COLUMNS[name]} of {len(releases)} releases {OWN_COLUMNS}"]
    assert [one["what"] for one in told["not_covered"] if OWN_COLUMNS in one["what"]] == said
    _counted_and_catalogued(republish, home, file, releases)


def _counted_and_catalogued(republish, home, file, releases=RELEASES[:3]):
    published, out = home / "published/clinic/v1", home.with_name("catalogues")
    assert republish("estimate", published / SECOND, "--where", "sex = 'F'")[::2] == (0, [])
    assert republish("catalogue", file, "--home", home, "--out", out)[::2] == (0, [])
    for release in releases:
        described = json.loads((out / release / "croissant.json").read_text())
        fields = {one["name"] for records in described["recordSet"] for one in records["field"]}
        for table in published.joinpath(release).glob("*.parquet"):
            assert set(pl.read_parquet_schema(table)) <= fields


ELSEWHERE = {
    # Exact series and those under e-equivalence have one format, and so have the two others.
    "exact": ("an age may be missing", "a number becomes a category"),
    "equivalence": ("a column comes first", "labels go"),
    "ever had": ("an age may be missing", "a number becomes a category"),
    "shards": ("a column comes first", "labels go"),
}


@pytest.mark.usefixtures("only_verdicts")
@pytest.mark.parametrize("kind", ELSEWHERE)
def test_a_series_of_another_kind_is_audited_whatever_changed_in_it(clinic, republish, kind):
    more = {"shards": 2} if kind == "shards" else {"principle": PRINCIPLES[kind]}
    home, file = released(clinic, *ELSEWHERE[kind], **more)
    truth = ["--truth", clinic.folder] if kind in ("equivalence", "shards") else []
    words = ("audit", home / "published/clinic/v1", "--contract", file, *truth, "--seconds", "1")
    code, told, faults = republish(*words)
    assert (code, [line for line in faults if not line.startswith("attacking")]) == (0, []), told
    _counted_and_catalogued(republish, home, file)


@pytest.mark.usefixtures("only_verdicts")
def test_a_data_package_that_was_changed_is_not_believed(clinic, republish):
    home, file = released(clinic, "a wider domain")
    published = home / "published/clinic/v1"
    package = json.loads((published / FIRST / "datapackage.json").read_text())
    columns = package["republish"]["attributes"]

    def audited(**keys):
        package["republish"]["attributes"] = [columns[0] | keys, *columns[1:]]
        for file_of_release in (published / FIRST).iterdir():
            file_of_release.chmod(0o600)
        (published / FIRST / "datapackage.json").write_text(json.dumps(package))
        seal(published / FIRST)
        words = ("--contract", file, "--truth", clinic.folder, "--seconds", "1")
        return republish("audit", published, *words)

    code, _, faults = audited(kind="nonsense")
    assert code == 2
    assert "datapackage.json: does not state the columns of the release as a contract would" in faults[-1]
    code, told, _ = audited(domain=[0, 99])
    assert code == 3, told
