"""Releases in an object store: there whole or not at all, whoever is killed, and whoever publishes beside."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from republish.anonymize.errors import ContractError, PublishedFolderError, StoreError
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.storage import in_stores
from republish.orchestration.storage.in_stores import fetched
from republish.orchestration.storage.manifest import MANIFEST, verify_release, verify_series
from republish.orchestration.storage.objects import create, objects_below, stored
from republish.orchestration.storage.store import SUMS
from tests.hospital import RELEASES, ROOT, make, published

pytestmark = pytest.mark.slow("starts a daemon or a server")

FIRST, SECOND = RELEASES[:2]
FILES = 6
"""Of a release."""


def in_bucket(bucket):
    return {one.key: one.get()["Body"].read() for one in bucket.objects.all()}


def in_store(address):
    """What is below an address, by the names that it has in a home."""
    return {
        one.address.removeprefix(f"{address.rpartition('/')[0]}/"): one.content()
        for one in objects_below(address)
    }


def tables(home):
    """What is published but for what speaks of the contract's own bytes."""
    return {name: content for name, content in published(home).items() if not name.endswith((MANIFEST, SUMS))}


def emptied(address):
    import obstore
    from obstore.store import from_url

    store, folder = from_url(address.rpartition("/")[0]), address.rpartition("/")[2]
    for some in obstore.list(store, f"{folder}/"):
        for one in some:
            obstore.delete(store, one["path"])


@pytest.fixture
def address(bucket):
    return f"s3://{bucket.name}/data"


class Killed(BaseException):
    """Nobody catches it."""


def killed_before(n, series, before_each_put):
    """A publication that ends before its n-th object is put."""

    def die():
        raise Killed

    before_each_put(n, die)
    with pytest.raises(Killed):
        publish(series, FIRST)
    assert not series.is_published(FIRST)


def one_of_two(candidates, before_each_put, n):
    """The publisher that wins where another one comes before the n-th object is put."""
    one, other = candidates("a", n), candidates("b", n)
    refused = []

    def come_between():
        try:
            publish(other, FIRST)
        except StoreError as refusal:
            refused.append(refusal)

    before_each_put(n, come_between)
    try:
        publish(one, FIRST)
    except StoreError as refusal:
        refused.append(refusal)
    assert len(refused) == 1
    assert "is there already, with another content" in str(refused[0])
    assert [one.is_published(FIRST), other.is_published(FIRST)] == [n > 0, n == 0]
    return one if n else other


class TestInAnotherStore:
    """As in S3, on servers that speak Azure's language (azurite) and Google's (ours)."""

    @pytest.fixture(params=["az://container", "gs://bucket_of_google"])
    def address(self, request):
        scheme, _, fixture = request.param.partition("://")
        return f"{scheme}://{request.getfixturevalue(fixture)}/data"

    @pytest.mark.usefixtures("only_verdicts")
    def test_snapshots_are_read_there_and_readers_take_releases(
        self, hospital, home, address, tmp_path, republish
    ):
        from_files = tables(home)
        for release in RELEASES[:2]:
            assert create(f"{address}/in/{release}.parquet", hospital.file(release).read_bytes())
        hospital.declare(source={"path": f"{address}/in/{{release}}.parquet"}, published_to=f"{address}/out")
        series = make(hospital.series(tmp_path / "other"), FIRST, SECOND)
        assert tables(series.home.path) == from_files
        there = {f"{name}": content for name, content in in_store(f"{address}/out").items()}
        assert there == {f"out/{name}": content for name, content in published(series.home.path).items()}
        place = f"{address}/out/hospital/v1"
        assert republish("verify", place) == (0, [*republish("verify", series.published_folder)[1]], [])
        asked = ("--where", "age < 40", "--format", "csv")
        assert republish("estimate", place, *asked) == republish("estimate", series.published_folder, *asked)
        truth = ("--truth", hospital.file(FIRST).parent, "--contract", hospital.contract)
        code, _, err = republish("audit", place, *truth, "--out", tmp_path / "report", "--seconds", 1)
        assert code == 0, err

    def test_whoever_is_killed(self, candidates, address, before_each_put):
        for n in (0, FILES // 2, FILES - 1):
            series = candidates("a", n)
            killed_before(n, series, before_each_put)
            assert len(in_store(address)) == n
            publish(series, FIRST)
            assert in_store(address) == {f"data/{k}": v for k, v in published(series.home.path).items()}
            emptied(address)

    def test_of_two_publishers_one_publishes(self, candidates, address, before_each_put):
        for n in (0, FILES // 2, FILES - 1):
            winner = one_of_two(candidates, before_each_put, n)
            assert in_store(address) == {f"data/{k}": v for k, v in published(winner.home.path).items()}
            emptied(address)


@pytest.fixture
def candidates(hospital, address, tmp_path, monkeypatch):
    """Two homes with keys of their own, each with a candidate of the first release."""
    monkeypatch.delenv("REPUBLISH_KEY")
    hospital.declare(published_to=address)
    for name in "ab":
        series = hospital.series(tmp_path / name)
        for step in (take_snapshot, compare_snapshots, compute_candidate):
            step(series, FIRST)
    return lambda name, copy: hospital.series(shutil.copytree(tmp_path / name, tmp_path / f"{name}{copy}"))


@pytest.fixture
def before_each_put(monkeypatch):
    """Has something done before the n-th object is put in a store."""

    def do(n, what):
        calls = []

        def create(*given):
            calls.append(given)
            if len(calls) == n + 1:
                monkeypatch.setattr(in_stores, "create", put)
                what()
            return put(*given)

        monkeypatch.setattr(in_stores, "create", create)

    put = in_stores.create
    return do


class TestWhatIsThere:
    @pytest.mark.usefixtures("only_verdicts")
    def test_it_is_what_is_published_here_and_readers_take_it(
        self, hospital, home, address, bucket, tmp_path, republish
    ):
        hospital.declare(published_to=f"{address}/")
        series = make(hospital.series(home), RELEASES[2])  # the first two were published before
        assert in_bucket(bucket) == {f"data/{name}": content for name, content in published(home).items()}
        place = f"{address}/hospital/v1"
        code, out, err = republish("verify", place)
        assert (code, out[-1], err) == (0, "3 releases, an unbroken chain", [])
        asked = ("--where", "age < 40", "--format", "csv")
        assert republish("estimate", place, *asked) == republish("estimate", series.published_folder, *asked)
        assert republish("estimate", f"{place}/{FIRST}", *asked)[0] == 0
        for name, of in (("there", place), ("here", series.published_folder)):
            assert republish("copies", of, tmp_path / name, "--copies", 2)[0] == 0
        there, here = (pl.read_parquet(tmp_path / name / "*.parquet") for name in ("there", "here"))
        assert there.equals(here)
        truth = ("--truth", hospital.file(FIRST).parent, "--contract", hospital.contract)
        code, out, err = republish("audit", place, *truth, "--out", tmp_path / "report", "--seconds", 1)
        assert code == 0, err
        report = "".join(file.read_text() for file in (tmp_path / "report").glob("*.json"))
        assert "/republish-" not in report + "".join(out)

    def test_a_change_there_is_found(self, hospital, home, address, bucket, republish):
        hospital.declare(published_to=address)
        publish(hospital.series(home), SECOND)
        place = f"{address}/hospital/v1"
        key = f"data/hospital/v1/{FIRST}/README.md"
        bucket.put_object(Key=key, Body=b"changed")
        code, _, err = republish("verify", place)
        assert (code, err) == (
            2,
            [f"republish: {place}/{FIRST}/README.md: was changed after publication (other SHA-256)"],
        )
        bucket.put_object(Key=f"data/hospital/v1/{FIRST}/../../x.parquet", Body=b"x")
        code, _, (told,) = republish("verify", place)
        assert (code, "the store can't be used (InvalidPathError)" in told) == (2, True)
        assert republish("verify", f"{address}/nowhere")[0] == 2

    def test_what_is_there_already_is_not_put_again(self, hospital, home, address, bucket):
        hospital.declare(published_to=address)
        publish(hospital.series(home), SECOND)
        before = {one.key: one.last_modified for one in bucket.objects.all()}
        assert not publish(hospital.series(home), SECOND).is_new
        assert {one.key: one.last_modified for one in bucket.objects.all()} == before

    def test_without_a_store_nothing_is_published(self, candidates, monkeypatch):
        series = candidates("a", 1)
        monkeypatch.setenv("AWS_PROFILE", "nobody")
        with pytest.raises(StoreError, match="the store can't be used"):
            publish(series, FIRST)
        assert not series.is_published(FIRST)
        monkeypatch.setenv("AWS_PROFILE", "of-a-test")
        assert publish(series, FIRST).is_new


class TestWhoeverIsKilled:
    def test_before_any_object_is_put(self, candidates, address, bucket, before_each_put):
        for n in range(FILES):
            series = candidates("a", n)
            killed_before(n, series, before_each_put)
            assert len(in_bucket(bucket)) == n
            with fetched([Path(address, "hospital/v1")]) as (copy,), pytest.raises(PublishedFolderError):
                verify_series(copy)
            publish(series, FIRST)
            assert in_bucket(bucket) == {f"data/{k}": v for k, v in published(series.home.path).items()}
            bucket.objects.delete()

    def test_by_the_operating_system_after_the_manifest(self, candidates, address, bucket):
        series = candidates("a", 1)
        script = (
            "import os, signal, sys\nfrom pathlib import Path\n"
            "from republish.orchestration.chain.publication import publish\n"
            "from republish.orchestration.contracts.contract_file import load_contract\n"
            "from republish.orchestration.series.series import Series\n"
            "from republish.orchestration.storage.home import Home\n"
            "Path.rename = lambda path, to: os.kill(os.getpid(), signal.SIGKILL) if to.name == sys.argv[3]"
            " else os.rename(path, to)\n"
            "publish(Series(load_contract(Path(sys.argv[1])), Home.at(Path(sys.argv[2]))), sys.argv[3])\n"
        )
        command = [sys.executable, "-c", script, str(series.file.path), str(series.home.path), FIRST]
        ended = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, check=False)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        there = in_bucket(bucket)
        assert f"data/hospital/v1/{FIRST}/{MANIFEST}" in there
        assert not series.is_published(FIRST)
        publish(series, FIRST)  # the same bytes: it is this home's own release
        assert in_bucket(bucket) == there == {f"data/{k}": v for k, v in published(series.home.path).items()}


def test_of_two_publishers_one_publishes_whenever_the_other_comes(
    candidates, address, bucket, before_each_put
):
    for n in range(FILES):
        winner = one_of_two(candidates, before_each_put, n)
        assert in_bucket(bucket) == {f"data/{k}": v for k, v in published(winner.home.path).items()}
        with fetched([Path(address, "hospital/v1", FIRST)]) as (copy,):
            verify_release(copy)
        bucket.objects.delete()


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        ("published", "must be an address in an object store"),
        ("s3://key:open-sesame@bucket/data", "has credentials"),
        ("https://host/data", "must be a path, or begin with s3://"),
        ("s3://bucket", "must name a bucket and a path in it"),
    ],
)
def test_a_place_that_is_none(hospital, place, fault):
    with pytest.raises(ContractError) as refused:
        hospital.declare(published_to=place).series(hospital.folder / "home")
    assert f"published_to: {fault}" in str(refused.value)
    assert "open-sesame" not in str(refused.value)


def test_in_googles_store_an_object_is_put_on_the_condition_that_there_is_none(bucket_of_google):
    address = f"gs://{bucket_of_google}/folder/x"
    assert stored(address) is None
    assert create(address, b"one")
    assert not create(address, b"two")
    assert stored(address).content() == b"one"
