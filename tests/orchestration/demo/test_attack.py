"""What `make demo` says an attacker learns, against counts of our own."""

import re
from collections import defaultdict

import numpy as np
import polars as pl
import pytest

from republish.anonymize.baseline.mondrian import mondrian
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.demo.attack import what_an_attacker_learns
from republish.orchestration.demo.hospital import (
    CONTRACT,
    DISEASES,
    hospital_snapshots,
    make_demo,
    write_hospital,
)
from republish.orchestration.package_files import package_file
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.sources import enter
from republish.orchestration.storage.home import Home
from tests.hospital import make

RELEASES, PATIENTS = 5, 600
LABELS = {
    "sex": ["F", "M"],
    "birthplace": [
        line.split(";")[0]
        for line in (package_file("data_contracts") / "hierarchies/birthplace.csv").read_text().splitlines()
    ],
}
QUASI_IDENTIFIERS = ("age", "zipcode", "sex", "birthplace")


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """The demo's series with fewer patients, five quarters long."""
    home = Home.at(tmp_path_factory.mktemp("demo"))
    write_hospital(home.path / "demo/snapshots/hospital", RELEASES, PATIENTS)
    contract = load_contract(make_demo(home.path))
    return make(Series(contract, home), *[release for release, _ in hospital_snapshots(RELEASES, 10)])


@pytest.fixture(scope="module")
def said(series):
    return what_an_attacker_learns(series)


def figures(sentence):
    """The numbers of a sentence, in order; a date is none."""
    undated = re.sub(r"\d{4}-\d\d-\d\d", "", sentence)
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?![-\d])\b", undated)]


def code(column, name):
    """A column of quasi-identifiers as places in its domain."""
    labels = LABELS.get(name.removesuffix("_low").removesuffix("_high"))
    return np.array([labels.index(label) if labels else label for label in column])


def published(folder):
    """A published release as bounds and diseases: for each group a box and a set of bits."""
    table = pl.read_parquet(folder / "microdata.parquet")
    held = table.group_by("group_id").agg("disease").sort("group_id")["disease"]
    boxes = table.unique("group_id").sort("group_id")
    bounds = [[code(boxes[f"{name}_{end}"], name) for end in ("low", "high")] for name in QUASI_IDENTIFIERS]
    return bounds, [bits(diseases) for diseases in held]


def alone(snapshot):
    """The same of a release that is made by itself."""
    contract = load_contract(CONTRACT).contract
    made = mondrian(enter(snapshot, contract).rename({"identifier": "person"}), contract, 4)
    held = made.values.group_by("group_id").agg("value").sort("group_id")["value"]
    boxes = made.boxes.sort("group_id")
    return [[boxes[f"qi_{at}_{end}"].to_numpy() for end in ("low", "high")] for at in range(4)], [
        bits(diseases) for diseases in held
    ]


def bits(diseases):
    return sum(1 << list(DISEASES).index(disease) for disease in set(diseases))


def candidates(snapshot, bounds, held):
    """The diseases of all groups that cover a patient, for every patient."""
    points = [code(snapshot[name], name) for name in QUASI_IDENTIFIERS]
    found = np.zeros(len(snapshot), int)
    for group, diseases in enumerate(held):
        inside = np.logical_and.reduce(
            [(low[group] <= at) & (at <= high[group]) for at, (low, high) in zip(points, bounds, strict=True)]
        )
        found[inside] |= diseases
    return found.tolist()


def narrowed(snapshots, releases):
    """By patient: how few candidates are left of a disease of theirs, once all releases are intersected."""
    left = defaultdict(lambda: -1)
    for snapshot, release in zip(snapshots, releases, strict=True):
        keys = zip(snapshot["patient_id"], snapshot["disease"], strict=True)
        for key, found in zip(keys, candidates(snapshot, *release), strict=True):
            left[key] &= found
    fewest = {}
    for (patient, _), found in left.items():
        fewest[patient] = min(found.bit_count(), fewest.get(patient, 99))
    return fewest


def patients(snapshots):
    """The patients who were in all snapshots, who returned, and whose disease changed."""
    visits = defaultdict(list)
    for number, snapshot in enumerate(snapshots):
        for patient, disease in snapshot.select("patient_id", "disease").iter_rows():
            visits[patient].append((number, disease))
    stayed = {patient for patient, of in visits.items() if len(of) == len(snapshots)}
    returned = {patient for patient, of in visits.items() if of[-1][0] - of[0][0] >= len(of)}
    changed = {patient for patient, of in visits.items() if len({disease for _, disease in of}) > 1}
    return stayed, returned, changed


def expected(snapshots, without, with_):
    """The figures of all sentences but the one on counterfeits."""
    stayed, returned, changed = patients(snapshots)

    def below(fewest, group, bound=4):
        return sum(fewest[patient] < bound for patient in group)

    return [
        [4, len(snapshots), below(without, stayed), len(stayed), 4, below(without, stayed, 2)],
        [below(with_, stayed), len(stayed), 4, below(with_, stayed, 2)],
        [len(returned), below(without, returned), 4, below(with_, returned)],
        [len(changed), below(without, changed), 4, below(with_, changed)],
    ]


@pytest.mark.slow("takes more than a second")
def test_the_figures_are_those_of_an_attack_of_our_own(series, said):
    snapshots = [snapshot for _, snapshot in hospital_snapshots(RELEASES, PATIENTS)]
    without = narrowed(snapshots, [alone(snapshot) for snapshot in snapshots])
    folders = sorted(series.published_folder.iterdir())
    with_ = narrowed(snapshots, [published(folder) for folder in folders])
    attack, ours, counterfeits, *cases = said
    assert [figures(sentence) for sentence in (attack, ours, *cases)] == expected(snapshots, without, with_)
    stated = [pl.read_parquet(folder / "counterfeits.parquet")["count"].sum() for folder in folders]
    assert figures(counterfeits) == [sum(stated), sum(stated) + RELEASES * PATIENTS, max(stated)]
    assert folders[stated.index(max(stated))].name in counterfeits


@pytest.mark.slow("makes and audits many releases")
def test_the_demo_has_every_case_and_the_attack_works_only_without_republish(said):
    attack, ours, counterfeits, returns, changes = map(figures, said)
    assert attack[2] > attack[5] > 0
    assert (ours[0], ours[3]) == (0, 0)
    assert counterfeits[0] > 0
    for case in (returns, changes):
        assert case[0] > case[1] > 0
        assert case[3] == 0


@pytest.mark.slow("takes more than a second")
def test_no_sentence_names_anybody(series, said):
    text = "\n".join(said)
    known = {str(name) for _, each in hospital_snapshots(RELEASES, PATIENTS) for name in each["patient_id"]}
    assert not [name for name in known if name in text]
    assert not [disease for disease in DISEASES if disease in text]


def test_a_single_release_has_nothing_to_be_intersected_with(tmp_path):
    home = Home.at(tmp_path)
    write_hospital(tmp_path / "demo/snapshots/hospital", 1, PATIENTS)
    assert what_an_attacker_learns(make(Series(load_contract(make_demo(tmp_path)), home), "2024-01-01")) == []


@pytest.mark.slow("makes and audits many releases")
def test_the_readme_shows_the_sentences_of_the_demo():
    """Counterfeits depend on the secret key of a home, and are the README's own."""
    readme = (package_file("data_contracts").parent / "README.md").read_text()
    items = [" ".join(item.split("\n\n")[0].split()) for item in readme.split("\n- ")]
    names = ("Without republish", "With republish", "Counterfeits")
    attack, ours, counterfeits = (item for item in items if item.startswith(names))
    snapshots = [snapshot for _, snapshot in hospital_snapshots()]
    without = narrowed(snapshots, [alone(snapshot) for snapshot in snapshots])
    with_ = dict.fromkeys(without, 4)  # the audit of every release sees to it
    assert [figures(sentence) for sentence in (attack, ours)] == expected(snapshots, without, with_)[:2]
    of, tuples = figures(counterfeits)
    assert tuples == 6 * 20_000 + of
