"""`republish audit`, as an auditor uses it: folders in, a verdict and a report out."""

import hashlib
import io
import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
import typer
import yaml
from rich.console import Console
from typer.testing import CliRunner

from republish.anonymize.errors import ContractError, PublishedFolderError, SnapshotError
from republish.orchestration.audit.command import audit
from republish.orchestration.cli import audit as words
from republish.orchestration.cli.audit import _own_releases
from republish.orchestration.storage.parts import part_name
from tests import findings as fi
from tests.anonymize.attack.attack_series import contract as declared_with
from tests.anonymize.attack.attack_series import publish, snapshots
from tests.hospital import RELEASES, make
from tests.orchestration.audit.published_folders import write_tables


@pytest.fixture(scope="module")
def _folders(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("published")
    declared = declared_with()
    told = {
        "identifier": "patient",
        "quasi_identifiers": [
            qi.model_dump(mode="json", exclude_none=True) for qi in declared.quasi_identifiers
        ],
        "sensitive": {"name": "disease"},
        "principle": {"name": "m_invariance", "m": 3},
    }
    (tmp_path / "contract.yaml").write_text(yaml.safe_dump(told))
    (tmp_path / "truth").mkdir()
    tables = list(snapshots(count=150, releases=2))
    for series in ("v1", "v2"):
        for n, release in enumerate(publish(tables, declared, series=series), start=1):
            name = f"2024-0{n}-01"
            release.snapshot.write_parquet(tmp_path / f"truth/{name}.parquet")
            write_tables(tmp_path / "published/hospital" / series / name, release.tables)
            write_tables(tmp_path / "private/hospital" / series / name, {"linkage": release.linkage})
    return tmp_path


@pytest.fixture
def folders(_folders, tmp_path):
    """Two series of one product, as they lie with the publisher and with the public."""
    return shutil.copytree(_folders, tmp_path / "folders")


def run(folders, *published, **options):
    options = {
        "truth": folders / "truth",
        "contract": folders / "contract.yaml",
        "console": Console(quiet=True),
    } | options
    return audit([folders / "published/hospital" / path for path in published], **options)


def report(folder):
    return json.loads((folder / "audit.json").read_text())


def broken(described):
    return {row["promise"] for row in described["promises"] if not row["holds"]}


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.usefixtures("only_verdicts")
def test_two_series_of_the_same_people_fail_together(folders, capsys):
    """What is printed is text: brackets in a folder's name are no colour."""
    out = folders / "of [red] patients"
    assert run(folders, "", private=folders / "private", out=out, console=None) == 3
    assert all(promise.startswith(fi.SERIES) for promise in broken(report(out)))
    told = capsys.readouterr().out
    assert "of [red] patients/audit.html" in told
    assert " NO " in told
    assert "[red]NO" not in told


@pytest.mark.slow("takes more than a second")
def test_what_no_verdict_depends_on_is_measured_for_a_report_alone(folders, monkeypatch):
    measured = []
    for measure in ("guess_values", "guess_presence", "usefulness"):
        place = f"republish.orchestration.audit.series.{measure}"
        monkeypatch.setattr(place, lambda *_, measure=measure: measured.append(measure))
    run(folders, "v1")
    assert not measured
    run(folders, "v1", out=folders / "report")
    assert set(measured) == {"guess_values", "guess_presence", "usefulness"}


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_a_broken_release_is_named(folders):
    file = folders / "published/hospital/v1/2024-02-01/microdata.parquet"
    pl.read_parquet(file).slice(1).write_parquet(file)
    assert run(folders, "v1", out=folders / "report") == 3
    described = report(folders / "report")
    assert {fi.COUNTS, fi.SHARE} <= broken(described)
    assert {tuple(row["broken_in"]) for row in described["promises"] if not row["holds"]} == {("2024-02-01",)}


@pytest.mark.slow("takes more than a second")
def test_the_report_has_figures_and_hashes_and_nobody_s_value_or_name(folders):
    run(folders, "v1", private=folders / "private", out=folders / "report")
    page = (folders / "report/audit.html").read_text()
    described = report(folders / "report")
    everybody = pl.concat([pl.read_parquet(file) for file in (folders / "truth").iterdir()])
    for text in (page, json.dumps(described)):
        assert not any(name in text for name in everybody["patient"])
        assert not any(value in text for value in everybody["disease"].unique())
    read = {file["file"]: file["sha256"] for file in described["read"]}
    truth = folders / "truth/2024-01-01.parquet"
    assert read[str(truth)] == hashlib.sha256(truth.read_bytes()).hexdigest()
    assert len(read) == 1 + 2 + 2 * 2 + 2
    assert described["not_covered"]
    assert described["background_knowledge"]
    assert page.count("<svg") <= 2  # of what is promised and moves


@pytest.mark.slow("takes more than a second")
def test_the_page_stands_alone(folders):
    run(folders, "v1", out=folders / "report")
    page = (folders / "report/audit.html").read_text()
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert "<script" not in page


@pytest.mark.slow("takes more than a second")
def test_the_same_audit_writes_the_same_report(folders):
    for name in ("one", "two"):
        run(folders, "v1", out=folders / name)
    for file in ("audit.html", "audit.json"):
        assert (folders / "one" / file).read_text() == (folders / "two" / file).read_text()


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_without_hosting_groups_the_report_says_what_it_did_not_cover(folders):
    run(folders, "v1", out=folders / "with_out")
    run(folders, "v1", private=folders / "private", out=folders / "with")
    without = [gap["what"] for gap in report(folders / "with_out")["not_covered"]]
    covered = [gap["what"] for gap in report(folders / "with")["not_covered"]]
    assert any("groups of" in gap for gap in without)
    assert not any("groups of" in gap for gap in covered)


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_the_private_folder_is_looked_through_once_however_many_releases_there_are(folders, monkeypatch):
    looked, glob = [], Path.glob
    monkeypatch.setattr(Path, "glob", lambda *given: looked.append(given) or glob(*given))
    run(folders, "v1", private=folders / "private")
    assert [given for given in looked if "linkage" in given[1]] == [
        (folders / "private", "**/linkage.parquet"),
        *((folders / f"private/hospital/v1/2024-0{n}-01", "shard-*/linkage.parquet") for n in (1, 2)),
    ]


def test_a_stray_file_in_a_release_is_reported(folders):
    (folders / "published/hospital/v1/2024-01-01/notes.txt").write_text("counterfeits: see row 7")
    assert run(folders, "v1", out=folders / "report") == 3
    assert broken(report(folders / "report")) == {fi.METADATA}


@pytest.mark.slow("takes more than a second")
def test_where_output_is_redirected_each_release_is_a_line_of_its_own(folders, capfd):
    paths = [folders / "published/hospital/v1"]
    audit(paths, folders / "truth", folders / "contract.yaml", console=Console(file=io.StringIO()))
    lines = capfd.readouterr().err.splitlines()
    assert lines[:2] == [f"attacking v1 2024-0{n}-01 ({n} of 4)" for n in (1, 2)]
    assert len(lines) == 4


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_the_truth_is_read_as_the_contracts_source_is_written_and_called(folders):
    for file in list((folders / "truth").iterdir()):
        table = pl.read_parquet(file).with_columns(pl.col(pl.Int64).cast(pl.String) + ",0")
        table.write_csv(folders / f"truth/patients_{file.stem}.csv", separator=";")
        file.unlink()
    contract = folders / "contract.yaml"
    with pytest.raises(SnapshotError, match=r"no 2024-01-01.csv"):
        run(folders, "v1")
    declared = yaml.safe_load(contract.read_text())
    declared["source"] = {"path": "patients_{release}.csv", "separator": ";", "decimal": ","}
    contract.write_text(yaml.safe_dump(declared))
    assert run(folders, "v1") == 0


def twice_published(file):
    file.with_suffix("").mkdir()
    shutil.copy(file, file.with_suffix("") / part_name(0))


def twice(file):
    """Put a table's first person into it once more."""
    table = pl.read_parquet(file)
    pl.concat([table, table[:1]]).write_parquet(file)


def marked(file):
    """Give the first row's value a space after it, as if to say that the row is a counterfeit."""
    table = pl.read_parquet(file)
    mark = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(" ")).otherwise(pl.lit(""))
    table.with_columns(pl.col("disease") + mark).write_parquet(file)


RELEASE, TRUE_TABLE = "published/hospital/v1/2024-01-01", "truth/2024-02-01.parquet"
MICRODATA, LINKAGE = f"{RELEASE}/microdata.parquet", "private/hospital/v1/2024-01-01/linkage.parquet"
SPOILT = [
    (MICRODATA, marked, PublishedFolderError, "parquet: column disease has a value in two spellings"),
    (MICRODATA, twice_published, PublishedFolderError, "is there beside parts of the same table"),
    (MICRODATA, lambda file: file.write_bytes(b"no"), PublishedFolderError, "no Parquet file that can"),
    (f"{RELEASE}/counterfeits.parquet", Path.unlink, PublishedFolderError, "counterfeits.*: is missing"),
    (TRUE_TABLE, Path.unlink, SnapshotError, "the truth of 2024-02-01"),
    (TRUE_TABLE, lambda file: file.write_bytes(b"PAR1"), SnapshotError, "is no Parquet file"),
    (TRUE_TABLE, twice, SnapshotError, f"{TRUE_TABLE}: .*repeat the identifier of another row"),
    (LINKAGE, Path.unlink, SnapshotError, "no linkage.parquet of release 2024-01-01"),
    ("contract.yaml", lambda file: file.write_text("identifier: p"), ContractError, "quasi_identifiers"),
    ("contract.yaml", Path.unlink, ContractError, "no such file"),
]


@pytest.mark.parametrize(("file", "spoil", "error", "said"), SPOILT)
def test_wrong_input_is_an_error_that_says_what_and_where(folders, file, spoil, error, said):
    spoil(folders / file)
    with pytest.raises(error, match=said) as raised:
        run(folders, "v1", private=folders / "private", out=folders / "report")
    assert raised.value.exit_code == 2
    assert not (folders / "report").exists()


def test_what_is_no_release_is_refused(folders):
    with pytest.raises(PublishedFolderError, match="no such file or folder"):
        run(folders, "v9")
    with pytest.raises(PublishedFolderError, match="--mapping"):
        audit([folders / "truth"], folders / "truth", folders / "contract.yaml")


@pytest.mark.usefixtures("only_verdicts")
def test_a_folder_that_is_not_what_its_manifest_says_is_refused(folders):
    release = folders / "published/hospital/v1/2024-01-01"
    files = {name: {"sha256": "0" * 64, "rows": 0} for name in ("microdata.parquet", "counterfeits.parquet")}
    (release / "manifest.json").write_text(json.dumps({"files": files}))
    with pytest.raises(PublishedFolderError, match="2024-01-01"):
        run(folders, "v1")


# Releases of another tool: two yearly CSV files, made one at a time.

YEARS = {
    "2022": [
        ("21-22", "120**", "dyspepsia"),
        ("21-22", "120**", "bronchitis"),
        ("36-41", "2****", "flu"),
        ("36-41", "2****", "gastritis"),
    ],
    "2023": [
        ("[21, 23]", "12***", "dyspepsia"),
        ("[21, 23]", "12***", "gastritis"),
        ("36-41", "2****", "flu"),
        ("36-41", "2****", "gastritis"),
    ],
}
TRUTH = {
    "2022": [
        ("Bob", 21, 12000, "dyspepsia"),
        ("Alice", 22, 12040, "bronchitis"),
        ("Gary", 41, 20000, "flu"),
        ("Helen", 36, 27000, "gastritis"),
    ],
    "2023": [
        ("Bob", 21, 12000, "dyspepsia"),
        ("David", 23, 12500, "gastritis"),
        ("Gary", 41, 20000, "flu"),
        ("Helen", 36, 27000, "gastritis"),
    ],
}


@pytest.fixture
def yearly(tmp_path):
    for year, rows in YEARS.items():
        table = pl.DataFrame(rows, schema=["AGE", "ZIP", "DIAG"], orient="row")
        write_csv(table, tmp_path / f"published/{year}.csv")
    for year, rows in TRUTH.items():
        table = pl.DataFrame(rows, schema=["name", "age", "zipcode", "disease"], orient="row")
        write_csv(table, tmp_path / f"truth/{year}.csv")
    (tmp_path / "contract.yaml").write_text(
        """
        identifier: name
        quasi_identifiers:
          - {name: age, kind: number, domain: [0, 120]}
          - {name: zipcode, kind: number, domain: [10000, 99999]}
        sensitive: {name: disease}
        principle: {name: m_invariance, m: 2}
        """
    )
    (tmp_path / "mapping.yaml").write_text(
        """
        quasi_identifiers: {age: AGE, zipcode: ZIP}
        sensitive: DIAG
        """
    )
    return tmp_path


def write_csv(table, file):
    file.parent.mkdir(exist_ok=True)
    table.write_csv(file)


def audit_years(folder, published="published"):
    inputs = [folder / name for name in ("truth", "contract.yaml")]
    told = {"mapping": folder / "mapping.yaml", "out": folder / "report", "console": Console(quiet=True)}
    return audit([folder / published], *inputs, **told)


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_two_yearly_files_of_another_tool_give_bob_away(yearly):
    assert audit_years(yearly) == 3
    described = report(yearly / "report")
    (candidates,) = [row for row in described["promises"] if row["promise"] == fi.CANDIDATES]
    assert (candidates["people"], candidates["broken"], candidates["found"]) == (5, 1, 1)
    assert candidates["broken_in"] == ["2023"]
    assert [row["e"] for row in described["series"][0]["equivalence"]].count(1) == 0


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.usefixtures("only_verdicts")
def test_two_names_of_one_value_are_named_and_one_when_they_are_declared(yearly):
    """In 2023 the tool and the source say influenza of what was flu: declared, three people are certain."""
    people = [(age, {"flu": "influenza"}.get(value, value)) for age, value in FLU_2023]
    for year, rows in (("2022", FLU_2022), ("2023", people)):
        truth = [(f"p{age}", age, 12000, value) for age, value in rows]
        schema = ["name", "age", "zipcode", "disease"]
        write_csv(pl.DataFrame(truth, schema=schema, orient="row"), yearly / f"truth/{year}.csv")
        groups = [(f"{age // 10 * 10}-{age // 10 * 10 + 9}", 12000, value) for age, value in rows]
        table = pl.DataFrame(groups, schema=["AGE", "ZIP", "DIAG"], orient="row")
        write_csv(table, yearly / f"published/{year}.csv")
    audit_years(yearly)
    said = [gap for gap in report(yearly / "report")["not_covered"] if "flu" in gap["what"]]
    assert [gap["people"] for gap in said] == [[3, 3]]
    assert "whether “flu” of one release and “influenza” of 2023 are one value" in said[0]["what"]
    contract = yearly / "contract.yaml"
    text = contract.read_text().replace("{name: disease}", "{name: disease, renamed: {flu: influenza}}")
    contract.write_text(text)
    assert audit_years(yearly) == 3
    described = report(yearly / "report")
    (candidates,) = [row for row in described["promises"] if row["promise"] == fi.CANDIDATES]
    assert (candidates["broken"], candidates["found"]) == (3, 1)
    assert not [gap for gap in described["not_covered"] if "flu" in gap["what"]]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("count", [40, 3_000])
@pytest.mark.usefixtures("only_verdicts")
def test_two_spellings_of_one_value_are_one_value_at_any_size(yearly, count, monkeypatch):
    """Groups of flu and flu with a space after it: without the attack on small tables, too."""
    monkeypatch.setattr("republish.orchestration.audit.series.MOST_PEOPLE", 20)
    ages = [n * 2 // count * 10 for n in range(count)]
    truth = {"name": range(count), "age": ages, "zipcode": 12000, "disease": "flu"}
    write_csv(pl.DataFrame(truth), yearly / "truth/2022.csv")
    spelt = ["flu", "flu "] * (count // 2)
    write_csv(pl.DataFrame({"AGE": ages, "ZIP": 12000, "DIAG": spelt}), yearly / "published/2022.csv")
    assert audit_years(yearly, "published/2022.csv") == 3
    assert fi.CANDIDATES in broken(report(yearly / "report"))


@pytest.mark.usefixtures("only_verdicts")
def test_capital_letters_do_not_put_a_table_out_of_order(yearly):
    """HIV stands before angina where capital letters come first, as in every sorted table of ours."""
    ages = [n // 2 * 2 for n in range(40)]
    truth = {"name": range(40), "age": ages, "zipcode": 12000, "disease": ["angina", "HIV"] * 20}
    write_csv(pl.DataFrame(truth), yearly / "truth/2022.csv")
    table = pl.DataFrame({"AGE": ages, "ZIP": 12000, "DIAG": ["HIV", "angina"] * 20})
    write_csv(table, yearly / "published/2022.csv")
    assert audit_years(yearly, "published/2022.csv") == 0
    assert "row order" not in broken(report(yearly / "report"))


FLU_2022 = [(21, "flu"), (25, "gout"), (31, "flu"), (35, "gout"), (41, "flu"), (45, "gout")]
FLU_2023 = [(21, "flu"), (26, "ulcer"), (31, "flu"), (36, "ulcer"), (41, "flu"), (46, "ulcer")]


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_values_that_two_people_share_out_give_a_third_away(yearly):
    """Everybody keeps two candidate values, and t's value is certain: u and v have b and c between them."""
    people = {
        "2022": {"t": (10, "a"), "u": (20, "b"), "v": (30, "c")},
        "2023": {
            "t": (10, "a"),
            "w": (11, "b"),
            "z": (12, "d"),
            "u": (20, "b"),
            "x": (21, "c"),
            "v": (30, "c"),
            "y": (31, "b"),
        },
    }
    ages = {"2022": ["10-30"] * 3, "2023": ["10-12"] * 3 + ["20-21"] * 2 + ["30-31"] * 2}
    for year, here in people.items():
        rows = [(name, age, 12000, value) for name, (age, value) in here.items()]
        truth = pl.DataFrame(rows, schema=["name", "age", "zipcode", "disease"], orient="row")
        write_csv(truth, yearly / f"truth/{year}.csv")
        table = pl.DataFrame({"AGE": ages[year], "ZIP": 12000, "DIAG": truth["disease"]})
        write_csv(table.sort("AGE", "DIAG"), yearly / f"published/{year}.csv")
    assert audit_years(yearly) == 3
    described = report(yearly / "report")
    assert broken(described) == {fi.SIGNATURES, fi.ASSIGNMENTS, fi.RISK}
    rows = {row["promise"]: row for row in described["promises"]}
    assert (rows[fi.ASSIGNMENTS]["found"], rows[fi.RISK]["found"]) == (1, 1)


@pytest.mark.usefixtures("only_verdicts")
def test_one_year_alone_holds(yearly):
    assert audit_years(yearly, "published/2022.csv") == 0


# The command line, and the page that explains it.


@pytest.fixture
def command():
    app = typer.Typer()
    app.command("audit")(words.audit)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.usefixtures("only_verdicts")
def test_the_command_ends_with_the_verdict(folders, command):
    told = ["--truth", folders / "truth", "--contract", folders / "contract.yaml"]
    series = folders / "published/hospital"
    held = command(series / "v1", *told, "--private", folders / "private")
    assert held.exit_code == 0
    assert "Every promise holds." in held.stdout
    undecided = command(series / "v1/2024-01-01", series / "v1/2024-02-01", *told)
    assert undecided.exit_code == 0
    assert "No promise is broken; 1 could not be decided." in undecided.stdout
    failed = command(series / "v1", series / "v2", *told, "--private", folders / "private")
    assert failed.exit_code == 3
    assert "promises are broken" in failed.stdout


def test_its_help_explains_every_option(command):
    told = command("--help").stdout
    for option in ("PUBLISHED", "--truth", "--contract", "--private", "--out", "--mapping", "--seconds"):
        assert option in told
    assert "0 every promise holds, 3 a promise is broken" in " ".join(told.split())


def own(hospital, series, out, **options):
    """An audit of one's own releases that names no folders: its code, what it said, and its report."""
    console = Console(file=(said := io.StringIO()), width=200)
    code = audit(
        [series.published_folder], None, hospital.contract, out=out, seconds=1, console=console, **options
    )
    return code, said.getvalue(), (out / "audit.json").read_text()


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.usefixtures("only_verdicts")
def test_ones_own_releases_need_no_folders_named(hospital, home, tmp_path):
    """The truth and everybody's group are what their home keeps, whatever the source has today."""
    series = hospital.series(home)
    hospital.file("2024-04-01").unlink()
    values = hospital.snapshot("2024-01-01")["disease"]
    corrected = hospital.snapshot("2024-01-01").with_columns(disease=values.reverse())
    hospital.deliver("2024-01-01", corrected)
    code, said, read = own(hospital, series, tmp_path / "report")
    assert (code, "Every promise holds." in said) == (0, True)
    for name in ("snapshot.parquet", "linkage.parquet"):
        assert str(series.private("2024-01-01") / name) in read
    assert str(hospital.file("2024-01-01")) not in read


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_where_working_files_are_gone_the_truth_is_what_the_source_has(hospital, home, tmp_path):
    series = hospital.series(home)
    for file in series.private("2024-01-01").iterdir():
        file.unlink()
    code, said, read = own(hospital, series, tmp_path / "report")
    assert code == 0
    assert "not checked person by person: the working files of hospital/v1 2024-01-01 are gone" in said
    assert str(hospital.file("2024-01-01")) in read
    assert "linkage.parquet" not in read


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_ones_own_contract_is_enough(hospital, home, command, monkeypatch):
    monkeypatch.setenv("REPUBLISH_HOME", str(home))
    told = command(hospital.contract, "--seconds", 1)
    assert (told.exit_code, "Every promise holds." in told.stdout) == (0, True)
    assert "hospital/v1" in told.stdout


@pytest.mark.slow("takes more than a second")
def test_ones_own_home_may_be_named(hospital, home, monkeypatch, tmp_path):
    monkeypatch.setenv("REPUBLISH_HOME", str(tmp_path / "another"))
    folder = hospital.series(home).published_folder
    assert _own_releases([hospital.contract], home) == [folder]


@pytest.mark.slow("takes more than a second")
def test_a_series_goes_with_the_one_it_goes_on_from(hospital, home, monkeypatch):
    monkeypatch.setenv("REPUBLISH_HOME", str(home))
    hospital.declare(series="v2", supersedes="v1", releases={"first": RELEASES[2]})
    make(hospital.series(home), RELEASES[2])
    assert [one.name for one in _own_releases([hospital.contract])] == ["v2", "v1"]


def test_what_to_name_is_said(hospital, home, tmp_path, monkeypatch):
    for named in ([hospital.series(home).published_folder], [hospital.contract, hospital.contract]):
        with pytest.raises(PublishedFolderError, match=r"Add --contract CONTRACT.*republish audit CONTRACT"):
            _own_releases(named)
    monkeypatch.setenv("REPUBLISH_HOME", str(tmp_path / "another"))
    with pytest.raises(PublishedFolderError, match="nothing is released of hospital/v1 yet"):
        _own_releases([hospital.contract])


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_releases_that_were_given_away_need_the_truth_alone(hospital, home, tmp_path):
    copy = tmp_path / "given/published/hospital/v1"
    shutil.copytree(hospital.series(home).published_folder, copy)
    code = audit(
        [copy], None, hospital.contract, out=tmp_path / "report", seconds=1, console=Console(quiet=True)
    )
    assert code == 0
    assert "linkage.parquet" not in (tmp_path / "report/audit.json").read_text()


@pytest.mark.slow("takes more than a second")
def test_a_source_that_has_a_release_no_more_is_said_with_the_way_out(hospital, home):
    hospital.file("2024-04-01").unlink()
    (hospital.series(home).private("2024-04-01") / "snapshot.json").unlink()
    with pytest.raises(
        SnapshotError, match=r"there is no such file.*Or name the folder of the true tables by"
    ):
        audit([hospital.series(home).published_folder], None, hospital.contract, console=Console(quiet=True))
