"""The page of an audit says no more of people's values than the releases do."""

import io

import polars as pl
import pytest
from rich.console import Console

import republish as rp
from republish.orchestration.audit.command import audit
from republish.orchestration.audit.report.coarse import coarse

CONTRACT = """
product: few
series: v1
identifier: name
source: {path: "truth/{release}.parquet"}
releases: {first: 2026-01-01, cron: "@monthly"}
quasi_identifiers:
  - {name: age, kind: number, domain: [0, 110]}
  - {name: street, kind: number, domain: [0, 999]}
sensitive: {name: disease}
principle: {name: m_invariance, m: 3}
"""
JANUARY, FEBRUARY = "2026-01-01", "2026-02-01"


def people(number):
    """Twelve people, three of whom have each disease, or more of them alike."""
    return pl.DataFrame(
        {
            "name": [f"P{one}" for one in range(number)],
            "age": [20 + one * 37 % 70 for one in range(number)],
            "street": [one * 211 % 1000 for one in range(number)],
            "disease": [("asthma", "flu", "gout")[one % 3] for one in range(number)],
        }
    )


def exchanged(january, first):
    """Everybody with another value of the same group."""
    groups = first.linkage.join(january, on="name").sort("group_id", "name")
    shifted = groups.with_columns(pl.col("disease").gather([1, 2, 0]).over("group_id"))
    return january.select(pl.exclude("disease")).join(
        shifted.select("name", "disease"), on="name", maintain_order="left"
    )


def page(folder, truth, tables):
    """The page of an audit against some truth."""
    (folder / truth).mkdir()
    for release, table in tables.items():
        table.write_parquet(folder / truth / f"{release}.parquet")
    console = Console(file=io.StringIO())
    published, contract = [folder / "published/few/v1"], folder / "few.yaml"
    audit(published, folder / truth, contract, out=folder / f"{truth} report", console=console)
    return (folder / f"{truth} report/audit.html").read_text()


@pytest.mark.slow("takes more than a second")
def test_the_page_of_few_people_is_the_same_whatever_values_of_their_groups_they_have(tmp_path):
    """With all its digits, `error_without` alone was right for one in 1,296 assignments of twelve people."""
    (tmp_path / "few.yaml").write_text(CONTRACT)
    contract, january = rp.Contract.load(tmp_path / "few.yaml"), people(12)
    first = rp.release(january, contract, date=JANUARY)
    february = january[1:]  # somebody leaves: two people are beside a counterfeit
    second = rp.release(february, contract, first.state, date=FEBRUARY)
    for one in (first, second):
        one.write(tmp_path / "published/few/v1")
    other = exchanged(january, first)
    assert (other["disease"] != january["disease"]).all()
    true = page(tmp_path, "truth", {JANUARY: january, FEBRUARY: february})
    false = page(tmp_path, "falsehood", {JANUARY: other, FEBRUARY: other[1:]})
    assert true == false


@pytest.mark.parametrize(
    ("people", "shown"),
    [(9, None), (99, None), (100, 0.3), (200, 0.35), (500, 0.34), (1_000, 0.33), (200_000, 0.33)],
)
def test_a_figure_is_shown_to_a_step_of_ten_people(people, shown):
    assert coarse(0.3349, people) == shown
    assert coarse(None, people) is None
