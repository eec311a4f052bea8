"""Labels and values may be any text: counts are those of ordinary ones."""

import polars as pl
import pytest

import republish as rp
from republish.anonymize.spelling import value_form
from republish.orchestration.readers.estimate.names import text

LABELS = (
    *("{{x}}", "{x}", "{", "}", "{}", "{0}", "{{", "{% x %}", "{# x", "$x", "%s", "a'b", 'a"b', "''", '"'),
    *("all", "ALL", "null", "NULL", "NaN", "true", "0", "-1", " ", "a ", " a", "\\", "\\n", "\n", "\t", "\r"),
    *("a\x1fb", "\x1f", "é", "e\u0301", "\u200b", "\u202e", "名", "a;b", "--", "/*", "*/", "1:a", "a, b"),
    "release",
)


@pytest.fixture(scope="module")
def people():
    """No label is another one in another spelling, which a contract refuses. Twelve are values, too."""
    labels = pl.DataFrame({"label": LABELS})
    distinct = labels.unique(value_form(pl.col("label")), keep="first", maintain_order=True)["label"]
    number = 6 * len(distinct)
    return pl.DataFrame(
        {
            "person": range(number),
            "label": [distinct[row * 7 % len(distinct)] for row in range(number)],
            "value": [distinct[(row + row // 9) % 12] for row in range(number)],
        }
    )


@pytest.fixture(scope="module", params=["generalization", "anatomy"])
def folder(request, people, tmp_path_factory):
    order = people["label"].unique(maintain_order=True).to_list()
    contract = rp.Contract.of(
        {
            "identifier": "person",
            "quasi_identifiers": [{"name": "label", "kind": "category", "order": order}],
            "sensitive": {"name": "value"},
            "principle": {"name": "m_invariance", "m": 3, "format": request.param},
        }
    )
    key = rp.State.begin("a key that is the same in each run")
    made = rp.release(people, contract, key, date="2024-01-01")
    return made.write(tmp_path_factory.mktemp(request.param) / "v1")


@pytest.mark.slow("takes more than a second")
def test_any_labels_are_counted_as_ordinary_ones(people, folder):
    """Values are counted as they are, and labels where they are exact; conditions find what counts do."""
    values = dict(people.group_by("value").len().iter_rows())
    found = rp.estimate(folder, by="value")
    assert dict(found.select("value", "people").iter_rows()) == values
    some = [*values][:6]
    condition = f"value IN ({', '.join(map(text, some))})"
    assert rp.estimate(folder, condition)["people"].item() == sum(values[one] for one in some)
    by_label = dict(rp.estimate(folder, by="label").select("label", "people").iter_rows())
    assert sum(by_label.values()) == pytest.approx(people.height, abs=len(by_label) * 0.05)
    if "anatomy" in str(folder):
        assert by_label == dict(people.group_by("label").len().iter_rows())
    for one in people["label"].unique(maintain_order=True).to_list()[::4]:
        asked = rp.estimate(folder, f"label = {text(one)}", copies=2)
        assert asked.height == 0 or asked["people"].item() >= 0


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_any_labels_are_counted_from_files_of_copies(people, folder, form, tmp_path, republish):
    assert republish("copies", folder, tmp_path / form, "--copies", 3, "--format", form)[0] == 0
    found = rp.estimate(tmp_path / form, by="value").select("value", "people")
    assert dict(found.iter_rows()) == dict(people.group_by("value").len().iter_rows())
