"""Audits of a series whose parameters changed: each person is judged by what they were promised."""

import json
import re

import pytest
import yaml
from rich.console import Console

from republish.anonymize.promise import Candidates
from republish.orchestration.audit.command import audit
from tests.hospital import RELEASES, make

FIRST, SECOND, THIRD = RELEASES
HOSTS, COVERED = (Candidates.scopes[key].name for key in ("hosts", "covered"))


def changed(hospital, home, **parameters):
    """The third release of a series whose first two had m = 3, under other parameters."""
    declared = yaml.safe_load(hospital.contract.read_text())
    declared["principle"] |= parameters
    declared["accept"] = {THIRD: ["m"]}
    hospital.contract.write_text(yaml.safe_dump(declared, sort_keys=False))
    return make(hospital.series(home), THIRD)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("parameters", [{"m": 4}, {"m": 2, "on_ineligible": "wait"}])
def test_a_changed_m_has_a_row_for_each_figure_in_table_and_report(
    hospital, home, tmp_path, capsys, parameters
):
    """It was "found 3, promised 4, holds yes", in a red box."""
    series = changed(hospital, home, **parameters)
    m = parameters["m"]
    code = audit(
        [series.published_folder],
        hospital.file(FIRST).parent,
        hospital.contract,
        private=series.private_folder,
        out=tmp_path / "report",
        seconds=1,
        console=Console(width=200),
    )
    assert code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"3 by {FIRST} to {SECOND} yes" in said
    assert f"{m} by {THIRD} yes" in said
    assert "Every promise holds." in said
    told = json.loads((tmp_path / "report/audit.json").read_text())
    assert told["keeps_contract"]
    assert told["asked"] is None
    assert told["promises"][0]["promise"] == HOSTS  # what matters most comes first
    for promise in (HOSTS, COVERED):
        rows = [row for row in told["promises"] if row["promise"] == promise]
        assert [(row["required"], row["promised_in"]) for row in rows] == [
            (3, [[FIRST, SECOND]]),
            (m, [[THIRD, THIRD]]),
        ]
        assert all(row["found"] >= row["required"] and row["people"] and row["holds"] for row in rows)
    page = (tmp_path / "report/audit.html").read_text()
    assert '<div class="verdict good">' in page
    assert ">another promise<" in page
    assert f"promised: at least 3, {m}<" in page
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert f"Promised by the releases {FIRST} to {SECOND}: at least 3; found: " in text
    assert f"Promised by the releases {THIRD}: at least {m}; found: " in text
    assert "each person is judged by what the release promised" in text
