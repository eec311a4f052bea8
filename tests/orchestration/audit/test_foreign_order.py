"""The order of rows in another tool's table, of which nobody's group is known."""

import json
from io import StringIO

import numpy as np
import polars as pl
import pytest
import yaml
from rich.console import Console

from republish.orchestration.audit.command import audit

pytestmark = pytest.mark.usefixtures("only_verdicts")

WARDS, AGES, DISEASES = 10, (18, 95), ["asthma", "cold", "flu", "gout", "ulcer"]
GROUPS = 299


def neighbours(seed=0, groups=GROUPS):
    """People in groups of three neighbours in ward and age: groups beside each other may share an age."""
    rng, number = np.random.default_rng(seed), 3 * groups
    people = pl.DataFrame(
        {
            "ward": rng.integers(0, WARDS, number),
            "age": rng.integers(*AGES, number),
            "disease": rng.choice(DISEASES, number),
        }
    ).with_columns(id=pl.Series([f"p{n:04}" for n in rng.permutation(number)]))
    by_age = people.with_row_index("by_snapshot").sort("ward", "age", "by_snapshot")
    by_age = by_age.with_columns(group=pl.int_range(pl.len()) // 3)
    return by_age.with_columns(shuffled=pl.Series(rng.permutation(groups))[by_age["group"]])


ORDERS = {
    "from the youngest to the oldest": ("age", (0, 1, 2)),
    "from the oldest to the youngest": ("age", (2, 1, 0)),
    "turned by one": ("age", (1, 2, 0)),
    "the middle one first": ("age", (1, 0, 2)),
    "as in the snapshot": ("by_snapshot", (0, 1, 2)),
    "as in the snapshot, the middle one first": ("by_snapshot", (1, 0, 2)),
}


def listed(people, order, turn):
    """The rows of each group in an order: the person at each place is the one of this rank."""
    ranked = people.sort("group", order).with_columns(rank=pl.int_range(pl.len()) % 3)
    place = pl.col("rank").replace_strict(list(turn), range(3))
    return ranked.with_columns(place=place).sort("shuffled", "place")


def audited(folder, people, rows):
    """What the audit says of row order, its exit code, and all that it prints."""
    interval = pl.format("{}-{}", pl.col("age").min().over("group"), pl.col("age").max().over("group"))
    lowest, highest = (one.over("group") for one in (pl.col("ward").min(), pl.col("ward").max()))
    rows.select("shuffled", "disease", AGE=interval, WARD=pl.format("{}-{}", lowest, highest)).write_csv(
        folder / "table.csv"
    )
    (folder / "truth").mkdir(exist_ok=True)
    people.sort("by_snapshot").select("id", "age", "ward", "disease").write_csv(folder / "truth/table.csv")
    columns = [{"name": name, "kind": "number", "domain": [0, 99]} for name in ("age", "ward")]
    told = {"identifier": "id", "quasi_identifiers": columns, "sensitive": {"name": "disease"}}
    (folder / "contract.yaml").write_text(yaml.safe_dump(told))
    named = {"quasi_identifiers": {"age": "AGE", "ward": "WARD"}, "sensitive": "disease"}
    named |= {"promise": {"k": 3}, "group": "shuffled"}
    (folder / "mapping.yaml").write_text(yaml.safe_dump(named))
    files = [folder / name for name in ("truth", "contract.yaml")]
    console = Console(record=True, width=200, file=StringIO())
    options = {"mapping": folder / "mapping.yaml", "out": folder / "report", "console": console}
    code = audit([folder / "table.csv"], *files, **options)
    said = json.loads((folder / "report/audit.json").read_text())
    assert any("another tool's table" in gap["what"] for gap in said["not_covered"])
    (found,) = [row for row in said["promises"] if row["promise"] == "row order"]
    return found, code, console.export_text()


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("order", ORDERS)
def test_rows_in_an_order_of_their_people_are_convicted_though_groups_share_borders(tmp_path, order):
    people = neighbours()
    found, code, _ = audited(tmp_path, people, listed(people, *ORDERS[order]))
    assert (found["holds"], code) == (False, 3)
    assert found["found"] < 1e-9


def test_rows_that_are_shuffled_within_groups_are_acquitted(tmp_path):
    people = neighbours()
    order = pl.Series(np.random.default_rng(4).random(len(people)))
    found, code, _ = audited(tmp_path, people, people.with_columns(order=order).sort("shuffled", "order"))
    assert (found["holds"], found["undecided"], code) == (True, 0, 0)


def test_rows_and_groups_too_few_to_compare_are_not_decided(tmp_path):
    """Three groups: any order and numbering of theirs could be chance."""
    people = neighbours(groups=3)
    rows = listed(people, "age", (1, 0, 2)).reverse()
    found, code, said = audited(tmp_path, people, rows)
    assert (found["holds"], found["broken"], found["undecided"], code) == (True, 0, 9, 0)
    assert "not decided for 9" in said
    assert "not decided for 3" in said
    assert "No promise is broken; 2 could not be decided." in said
