"""Two runs at once: one waits or is turned away in words, and neither harms the other."""

import json
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from republish.anonymize.errors import HomeError
from republish.orchestration import definitions
from republish.orchestration.cli.releasing import releasing
from republish.orchestration.contracts import registry
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.registry import known_contracts, register
from republish.orchestration.dagster import component
from republish.orchestration.storage import history, home
from republish.orchestration.storage.home import Home, only_one
from republish.orchestration.storage.store import read_json
from tests.hospital import RELEASES, ROOT, Hospital, begin, make, published

pytestmark = pytest.mark.slow("starts processes")

FIRST, SECOND, THIRD = RELEASES


def test_two_on_one_series_and_one_on_another_in_a_home_that_is_new(hospital, tmp_path):
    home = tmp_path / "a home with spaces"
    other = hospital.folder / "other.yaml"
    hospital.declare(product="clinic", same_people={"hospital": "other_people"})
    hospital.contract.rename(other)
    hospital.declare()
    runs = [begin(contract, home, SECOND) for contract in (hospital.contract, hospital.contract, other)]
    told = [(*(said.decode() for said in run.communicate()), run.returncode) for run in runs]
    assert [code for *_, code in told] == [0, 0, 0], told
    lines = [[line for line in out.splitlines() if " is published in " not in line] for out, *_ in told[:2]]
    assert [len(line) for line in lines] in ([1, 2], [2, 1])
    assert any("waiting for it to end" in err for _, err, _ in told[:2])
    alone = tmp_path / "alone"
    make(hospital.series(alone), FIRST, SECOND)
    assert published(alone).items() <= published(home).items()
    assert len(published(home)) == 2 * len(published(alone))
    assert read_json(home / "contracts.json").keys() == {"hospital", "clinic"}


def test_whoever_waited_too_long_is_turned_away(series, monkeypatch):
    monkeypatch.setattr(home, "PATIENCE", 0.1)
    with (
        only_one(series.private_folder, "series hospital/v1", name=".releasing"),
        pytest.raises(
            HomeError, match=r"another run is working on series hospital/v1.*Try again when it has"
        ),
    ):
        releasing(series).__enter__()


def test_a_lock_ends_with_its_holder(tmp_path):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from republish.orchestration.storage.home import only_one\n"
        "with only_one(Path(sys.argv[1]), 'it'): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, check=False)
    with only_one(tmp_path, "it", patience=0):
        pass


@pytest.fixture
def busy_history(series):
    """Another process that has the history open until it is told to end."""
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, series.home.history]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def test_a_history_that_is_open_elsewhere_is_waited_for(series, busy_history):
    threading.Timer(0.5, busy_history.stdin.close).start()
    make(series, THIRD)


def test_a_history_that_stays_open_elsewhere_is_named(series, busy_history, monkeypatch):
    monkeypatch.setattr(history, "PATIENCE", 0.1)
    with pytest.raises(HomeError, match=r"history.duckdb: another program has had it open.*Close it there"):
        make(series, THIRD)


def test_two_who_need_a_key_at_once_have_the_same(tmp_path, monkeypatch):
    monkeypatch.delenv("REPUBLISH_KEY")
    code = (
        "import sys; from pathlib import Path; from republish.orchestration.storage.home import Home\n"
        "sys.stdin.readline(); print(Home.at(Path(sys.argv[1])).key().hex())"
    )
    command = [sys.executable, "-c", code, tmp_path / "home"]
    both = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    for process in both:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    keys = {process.communicate()[0] for process in both}
    assert len(keys) == 1
    assert len(keys.pop().strip()) == 2 * 64
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == [".key-lock", "secret.key"]


def test_contracts_registered_at_once_are_all_known(hospital, tmp_path):
    home = Home.at(tmp_path / "home")
    files = []
    for number in range(8):
        hospital.declare(product=f"hospital_{number}")
        files.append(load_contract(hospital.contract.rename(hospital.folder / f"{number}.yaml")))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda file: register(home, file), files))
    known = known_contracts(home)
    assert {str(file.path) for file in files} <= known.keys()


def test_definitions_read_each_contract_of_a_home_once(hospital, tmp_path, monkeypatch):
    """A home may have hundreds of products."""
    home, read = Home.at(tmp_path / "home"), []
    for number in range(3):
        hospital.declare(product=f"hospital_{number}")
        register(home, load_contract(hospital.contract.rename(hospital.folder / f"{number}.yaml")))

    def counted(path):
        read.append(path.name)
        return load_contract(path)

    for module in (registry, component):
        monkeypatch.setattr(module, "load_contract", counted)
    monkeypatch.setenv("REPUBLISH_HOME", str(home.path))
    assert len(list(definitions.defs().jobs)) == 3
    assert sorted(read) == ["0.yaml", "1.yaml", "2.yaml"]


def test_a_product_in_two_contracts_is_the_one_released_last(hospital, tmp_path):
    home = Home.at(tmp_path / "home")
    second = Hospital(tmp_path / "second")
    (tmp_path / "second").mkdir()
    (tmp_path / "second/hierarchies").symlink_to(hospital.folder / "hierarchies")
    second.declare(series="v2")
    for each in (hospital, second):
        register(home, load_contract(each.contract))
    known = {
        path: file for path, file in known_contracts(home).items() if file.contract.product == "hospital"
    }
    assert list(known) == [str(second.contract)]
    second.contract.unlink()  # moved: its product is that of data_contracts/ again
    assert str(second.contract) not in known_contracts(home)


def test_a_home_that_is_moved_with_its_contracts_knows_them_and_an_old_one_does_too(hospital, tmp_path):
    home = Home.at(tmp_path / "home")
    register(home, load_contract(hospital.contract))
    assert str(tmp_path) not in (home.path / "contracts.json").read_text()
    for folder in ("home", hospital.folder.name):
        shutil.copytree(tmp_path / folder, tmp_path / "copy" / folder)
    moved = known_contracts(Home(tmp_path / "copy/home"))
    assert list(moved) == [str(tmp_path / "copy" / hospital.folder.name / hospital.contract.name)]
    (home.path / "contracts.json").write_text(json.dumps({"hospital": str(hospital.contract)}))
    assert list(known_contracts(home)) == [str(hospital.contract)]


def test_of_two_contracts_that_came_to_declare_one_product_the_second_is_left_out(hospital, tmp_path):
    home = Home.at(tmp_path / "home")
    register(home, load_contract(hospital.contract))
    clinic = hospital.folder / "clinic.yaml"
    clinic.write_text(hospital.contract.read_text().replace("product: hospital", "product: clinic"))
    register(home, load_contract(clinic))
    clinic.write_text(hospital.contract.read_text())
    known = known_contracts(home)
    assert "declares as well" in str(known[str(clinic)])
    assert known[str(hospital.contract)].contract.product == "hospital"
