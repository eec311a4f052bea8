"""The product in Dagster: its graph, its backfills, its checks, and when it releases by itself."""

import base64
import datetime as dt
import json
import re
import shutil
from dataclasses import replace

import dagster as dg
import polars as pl
import pytest

from republish.anonymize import principles
from republish.anonymize.attack.figures import AttackFigures
from republish.anonymize.contract.expected import DeltaFigures
from republish.anonymize.errors import AuditFailed
from republish.anonymize.principle.candidate import ReleaseFigures
from republish.anonymize.promise import Promise, Signatures
from republish.anonymize.promise.registry import KINDS, RULES
from republish.orchestration.dagster import workers
from republish.orchestration.dagster.figures import CONSTANT, NAMES
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.names import (
    CHAIN_CHECK,
    PARTITION,
    automation_name,
    job_name,
    series_tag,
)
from republish.orchestration.expectations.judge import Judge
from republish.orchestration.series import calendar
from tests.hospital import (
    IDENTIFIER,
    QUIET,
    RELEASES,
    Hospital,
    definitions,
    everything,
    make,
    published,
)

FIRST, SECOND, THIRD = RELEASES
ASSETS = ["snapshot", "delta", "buckets", "release", "counterfeits", "audit", "publication"]


def key(asset):
    return dg.AssetKey(["hospital", asset])


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def run(series, instance, first, last=None, **options):
    """The product's job for one release, or in one run for a range of them."""
    job = definitions(series).resolve_job_def(job_name("hospital"))
    if last is None:
        return job.execute_in_process(partition_key=first, instance=instance, run_config=QUIET, **options)
    tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
    return job.execute_in_process(tags=tags, instance=instance, run_config=QUIET, **options)


def evaluated(instance, asset, check):
    """Whether a check passed, by release, where it was looked at."""
    asked = dg.AssetCheckKey(key(asset), check)
    records = instance.event_log_storage.get_asset_check_execution_history(asked, limit=50)
    found = [record.event.asset_check_evaluation for record in records if record.event]
    return {one.partition: one.passed for one in found if getattr(one, "partition", None)}


def materialized(instance, asset):
    return sorted(instance.get_materialized_partitions(key(asset)))


def entries(instance, asset, release):
    filters = dg.AssetRecordsFilter(asset_key=key(asset), asset_partitions=[release])
    record = instance.fetch_materializations(filters, limit=1).records[0]
    return {name: value.value for name, value in record.asset_materialization.metadata.items()}


def checks(result, *assets):
    """What was found by each check, on some assets or on all; `expected` is on two."""
    return {
        evaluation.check_name: evaluation
        for event in result.all_events
        if event.event_type_value == "ASSET_CHECK_EVALUATION"
        for evaluation in [event.event_specific_data]
        if not assets or evaluation.asset_key.path[-1] in assets
    }


# ---- the graph


def graph(series):
    return definitions(series).resolve_asset_graph()


def test_the_steps_of_a_release_are_assets_that_follow_one_another(series):
    nodes = {node.key.path[-1]: node for node in graph(series).asset_nodes}
    assert sorted(nodes) == sorted(ASSETS)
    above = {name: sorted(parent.path[-1] for parent in node.parent_keys) for name, node in nodes.items()}
    assert above == {
        "snapshot": [],
        "delta": ["snapshot"],
        "buckets": ["delta"],
        "release": ["buckets"],
        "counterfeits": ["buckets"],
        "audit": ["counterfeits", "release", "snapshot"],
        "publication": ["audit", "counterfeits", "release"],
    }
    assert {node.group_name for node in nodes.values()} == {"hospital"}
    assert all(node.key.path[0] == "hospital" and node.description for node in nodes.values())


def test_every_promise_is_a_check(series):
    found = {(node.asset_key.path[-1], node.name) for node in graph(series).asset_check_keys}
    assert found == {
        ("snapshot", "snapshot"),
        ("delta", "expected"),
        ("publication", "manifest_chain"),
        *(("release", name) for name in ("signature_invariance", "largest_share", "m_uniqueness")),
        *(("release", name) for name in ("company", "coverage", "counterfeits", "minimum_widths")),
        ("release", "attack"),
        ("release", "expected"),
        ("publication", "freshness"),
        ("publication", "last_run"),
    }


def test_the_code_version_changes_with_the_parameters_and_with_the_algorithm(hospital, series, monkeypatch):
    def versions(of):
        return {asset: graph(of).get(key(asset)).code_version for asset in ASSETS}

    before = versions(series)
    assert before == versions(hospital.declare(description="Other words.").series(series.home.path))
    after = versions(hospital.declare(principle={"m": 4}).series(series.home.path))
    changed = {asset for asset in ASSETS if before[asset] != after[asset]}
    assert changed == {"buckets", "release", "counterfeits", "audit"}
    raised = replace(principles.PRINCIPLES["m_invariance"], version="99")
    monkeypatch.setitem(principles.PRINCIPLES, "m_invariance", raised)
    assert versions(series)["release"] not in (before["release"], after["release"])


# ---- backfills


@pytest.fixture
def elsewhere(hospital, home, tmp_path):
    """The hospital's series in a second home, which is empty."""
    (hospital.folder / ".hospital.yaml.home").unlink()  # the first home never was
    return hospital.series(tmp_path / "elsewhere")


@pytest.mark.slow("makes and audits many releases")
def test_a_backfill_in_one_run_publishes_what_release_by_release_does(elsewhere, series, instance):
    assert run(elsewhere, instance, FIRST, THIRD).success
    make(series, THIRD)
    assert published(elsewhere.home.path) == published(series.home.path)
    for asset in ASSETS:
        assert materialized(instance, asset) == list(RELEASES)
    assert entries(instance, "release", SECOND)["people released"] == 300
    evaluated = instance.event_log_storage.get_asset_check_summary_records(
        [dg.AssetCheckKey(key("release"), "coverage")]
    )
    assert evaluated


@pytest.mark.slow("takes more than a second")
def test_the_first_release_waits_for_its_date(hospital, tmp_path, instance, monkeypatch):
    """Dagster lists its partition a period before, and its snapshot may be there already."""
    series = hospital.series(tmp_path / "home")
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2023, 12, 31, 12, tzinfo=dt.UTC))
    with pytest.raises(dg.Failure) as refusal:
        run(series, instance, FIRST)
    assert refusal.value.description.startswith(
        f"hospital/v1 {FIRST}: is not due. This machine's clock says 2023-12-31"
    )
    assert not series.published_folder.exists()
    assert not series.private(FIRST).exists()
    none = f"no release is due yet; the first is {FIRST}, and today is 2023-12-31"
    assert arrival(series, instance) == none
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2024, 1, 1, tzinfo=dt.UTC))
    assert arrival(series, instance)[0] == FIRST
    assert run(series, instance, FIRST).success
    assert series.is_published(FIRST)


@pytest.mark.slow("makes and audits many releases")
def test_a_backfill_that_fails_publishes_the_releases_before(elsewhere, series, instance, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setitem(principles.PRINCIPLES, "m_invariance", mutant(swapped_groups, from_release=THIRD))
        with pytest.raises(dg.Failure, match="the audit failed"):
            run(elsewhere, instance, FIRST, THIRD)
    assert [elsewhere.is_published(release) for release in RELEASES] == [True, True, False]
    for asset in ASSETS[2:]:
        assert materialized(instance, asset) == [FIRST, SECOND]
    assert entries(instance, "release", SECOND)["people released"] == 300
    assert published(elsewhere.home.path) == published(series.home.path)
    assert run(elsewhere, instance, THIRD).success  # what a publisher does next
    make(series, THIRD)
    assert published(elsewhere.home.path) == published(series.home.path)


@pytest.mark.slow("takes more than a second")
def test_a_backfill_whose_last_snapshot_is_odd_publishes_those_before(hospital, instance, tmp_path):
    hospital.deliver(THIRD, hospital.snapshot(THIRD)[:100])
    series = hospital.series(tmp_path / "home")
    with pytest.raises(dg.Failure, match="of the people of the snapshot before are in this one"):
        run(series, instance, FIRST, THIRD)
    assert [series.is_published(release) for release in RELEASES] == [True, True, False]
    assert materialized(instance, "publication") == [FIRST, SECOND]
    assert evaluated(instance, "delta", "expected") == {FIRST: True, SECOND: True, THIRD: False}
    later = [("release", one) for one in ("coverage", "attack", "expected")] + [("publication", CHAIN_CHECK)]
    for asset, check in later:
        assert evaluated(instance, asset, check) == {FIRST: True, SECOND: True, THIRD: False}
        assert not_reached(instance, asset, check) == THIRD


def not_reached(instance, asset, check):
    """The release that a check says that it was not reached for, as a warning."""
    (record,) = instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(key(asset), check), limit=1
    )
    found = record.event.asset_check_evaluation
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert found.description.startswith(f"Not reached: {found.partition} was refused at ")
    return found.partition


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda people: people[:100], "of the people of the snapshot before are in this one"),
        (lambda people: people.drop("age"), "the column age is missing: add or rename it in the source"),
    ],
)
def test_the_first_line_of_a_run_that_failed_is_what_a_publisher_needs(
    series, instance, hospital, change, words
):
    hospital.deliver(THIRD, change(hospital.snapshot(THIRD)))
    made = run(series, instance, THIRD, raise_on_error=False)
    logs = instance.all_logs(made.run_id)
    events = [entry.dagster_event for entry in logs if entry.dagster_event]
    failures = ("STEP_FAILURE", "PIPELINE_FAILURE")
    errors = [event.event_specific_data.error for event in events if event.event_type_value in failures]
    assert len(errors) == 2
    for error in errors:
        first = error.message.splitlines()[0]
        assert first.startswith("Refused: hospital")
        assert words in first
        assert error.cause is None  # else it is said a second time, with a stack of its own
    for asset, check in [("release", "coverage"), ("release", "expected"), ("publication", CHAIN_CHECK)]:
        assert not_reached(instance, asset, check) == THIRD


def test_a_run_of_a_part_says_nothing_of_checks_that_it_was_not_to_reach(series, instance, hospital):
    hospital.deliver(THIRD, hospital.snapshot(THIRD).drop("age"))
    assert not run(series, instance, THIRD, raise_on_error=False, asset_selection=[key("snapshot")]).success
    assert evaluated(instance, "snapshot", "snapshot") == {THIRD: False}
    assert evaluated(instance, "release", "coverage") == {}


def test_a_backfill_of_a_part_that_fails_publishes_nothing(hospital, instance, tmp_path):
    hospital.deliver(THIRD, hospital.snapshot(THIRD).drop("age"))
    series = hospital.series(tmp_path / "home")
    with pytest.raises(dg.Failure, match="the column age is missing"):
        run(series, instance, FIRST, THIRD, asset_selection=[key("snapshot")])
    assert published(series.home.path) == {}


def evaluations(series, instance, release=None):
    """What each check of releases found last, of a release or of none, by asset and check."""
    found = {}
    for asked in graph(series).asset_check_keys:
        records = instance.event_log_storage.get_asset_check_execution_history(asked, limit=50)
        of_release = [one.event for one in records if one.partition == release and one.event]
        if of_release and asked.name not in ("freshness", "last_run"):
            found[asked.asset_key.path[-1], asked.name] = of_release[0].asset_check_evaluation
    return found


def have_passed(series, instance, release):
    """How many checks of a release passed, of those that were looked at; none of them is only planned."""
    found = evaluations(series, instance, release)
    assert all(one is not None and one.partition == release for one in found.values())
    return sum(one.passed for one in found.values()), len(found)


ALL = (12, 12)
"""Of as many checks, so many passed."""


@pytest.mark.slow("makes and audits many releases")
def test_every_evaluation_has_its_release(series, instance):
    """In a range of one, as a backfill of one date is, in a longer one, and in a run of one."""
    before = published(series.home.path)
    assert run(series, instance, SECOND, SECOND).success
    assert have_passed(series, instance, SECOND) == ALL
    assert run(series, instance, SECOND, THIRD).success
    assert have_passed(series, instance, THIRD) == ALL
    assert run(series, instance, FIRST).success
    assert have_passed(series, instance, FIRST) == ALL
    assert evaluations(series, instance) == {}
    assert before.items() < published(series.home.path).items()


@pytest.mark.slow("makes and audits many releases")
def test_a_backfill_after_a_changed_parameter_leaves_published_releases_and_makes_the_next(
    hospital, series, instance
):
    changed = hospital.declare(principle={"m": 4}, accept={THIRD: ["m"]}).series(series.home.path)
    before = published(series.home.path)
    assert run(changed, instance, FIRST, THIRD).success
    after = published(series.home.path)
    assert {name: content for name, content in after.items() if THIRD not in name} == before
    for release in (FIRST, SECOND):
        said = entries(instance, "release", release)["already published"]
        assert said.startswith("Already published; parameters not applied (m")
        assert f"What changed holds from {THIRD} on." in said or "2024-10-01" in said
        found = evaluations(series, instance, release)
        assert have_passed(series, instance, release) == ALL
        assert found["release", "coverage"].description.startswith(
            "Already published; parameters not applied"
        )
        assert "m 3" in entries(instance, "publication", release)["report"]
    assert "already published" not in entries(instance, "release", THIRD)
    assert "m 4" in entries(instance, "publication", THIRD)["report"]


@pytest.mark.slow("takes more than a second")
def test_checks_of_published_releases_stay_passed_where_a_later_one_is_refused(series, instance, hospital):
    hospital.deliver(THIRD, hospital.snapshot(THIRD).drop("age"))
    assert not run(series, instance, FIRST, THIRD, raise_on_error=False).success
    for release in (FIRST, SECOND):
        found = evaluations(series, instance, release)
        assert have_passed(series, instance, release) == ALL
        assert found["publication", CHAIN_CHECK].description.startswith("Already published: it passed then.")
    assert evaluations(series, instance) == {}


def test_the_page_of_the_asset_says_what_a_changed_contract_changes_and_from_when(hospital, series, tmp_path):
    def description(of):
        return graph(of).get(key("release")).description

    assert "A changed contract changes no published release" in description(series)
    assert f"The next release is {THIRD}" in description(series)
    changed = description(hospital.declare(principle={"m": 4}).series(series.home.path))
    for words in (
        f"Changes in the contract since {SECOND}",
        "- m: ",
        f"They hold from {THIRD} on",
        f"The releases from {FIRST} to {SECOND} stay as they are",
        "`supersedes: v1`",
        "job `release_hospital`",
    ):
        assert words in changed
    begun = description(hospital.series(tmp_path / "new"))
    assert "No release of hospital/v1 is published yet." in begun
    assert "Begin it again." in begun


@pytest.mark.slow("takes more than a second")
def test_rematerializing_what_is_no_longer_kept_verifies_it(hospital, series, instance):
    hospital.declare(keep_private=1)
    make(hospital.series(series.home.path), THIRD)
    before = published(series.home.path)
    result = run(hospital.series(series.home.path), instance, FIRST)
    assert result.success
    assert all(check.passed for check in checks(result).values())
    assert published(series.home.path) == before


@pytest.mark.slow("takes more than a second")
def test_the_delta_of_a_published_release_stays_what_it_was(hospital, series, instance):
    """Also where the snapshot before it is not kept any more: nobody is taken for inserted then."""
    hospital.declare(keep_private=1)
    series = make(hospital.series(series.home.path), THIRD)
    assert not series.private(SECOND).exists()
    before = everything(series.home.path)
    assert run(series, instance, THIRD, asset_selection=[key("delta")]).success
    shown = entries(instance, "delta", THIRD)
    assert shown["people who are new"] < 60
    assert shown["people carried over"] > 200
    assert run(series, instance, SECOND, asset_selection=[key("delta")]).success
    assert "people who are new" not in entries(instance, "delta", SECOND)  # nothing of it is kept
    assert everything(series.home.path) == before


# ---- audits


def swapped_groups(published, linkage):
    """Two people of one bucket in each other's group: neither group covers them."""
    swapped = linkage["group_id"].reverse()
    return published, linkage.with_columns(group_id=swapped)


def without_a_counterfeit(published, linkage):
    statistics = published["counterfeits"]
    return published | {"counterfeits": statistics.with_columns(pl.col("count") - 1)}, linkage


def with_a_narrower_interval(published, linkage):
    microdata = published["microdata"]
    return published | {"microdata": microdata.with_columns(zipcode_high="zipcode_low")}, linkage


def with_one_disease(published, linkage):
    microdata = published["microdata"]
    return published | {"microdata": microdata.with_columns(disease=pl.lit("flu"))}, linkage


def mutant(change, from_release=""):
    """The principle, and what it computes changed before the audit sees it."""
    principle = principles.PRINCIPLES["m_invariance"]
    number = RELEASES.index(from_release) + 1 if from_release else 1

    def release(people, contract, state, n, draw):
        candidate = principle.release(people, contract, state, n, draw)
        if n < number:
            return candidate
        tables, linkage = change(dict(candidate.published), candidate.linkage)
        return replace(candidate, published=tables, linkage=linkage)

    return replace(principle, release=release)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (swapped_groups, "coverage"),
        (without_a_counterfeit, "counterfeits"),
        (with_a_narrower_interval, "minimum_widths"),
    ],
)
def test_a_candidate_that_breaks_a_promise_is_not_published(series, instance, monkeypatch, change, promise):
    before = everything(series.home.path)
    monkeypatch.setitem(principles.PRINCIPLES, "m_invariance", mutant(change))
    result = run(series, instance, THIRD, raise_on_error=False)
    assert not result.success
    found = checks(result)
    assert not found[promise].passed
    assert found[promise].description
    assert found[promise].metadata["rows of evidence"].value != 0
    assert materialized(instance, "publication") == []
    assert not series.published(THIRD).exists()
    after = everything(series.home.path)
    assert {name: content for name, content in after.items() if THIRD not in name} == before
    assert not (series.private(THIRD) / "candidate.json").exists()


@pytest.mark.slow("takes more than a second")
def test_nothing_is_built_on_a_release_whose_audit_failed(hospital, series, instance, monkeypatch):
    hospital.deliver("2024-10-01", hospital.snapshot(THIRD))
    with monkeypatch.context() as broken:
        broken.setitem(principles.PRINCIPLES, "m_invariance", mutant(swapped_groups))
        assert not run(series, instance, THIRD, raise_on_error=False).success
    with pytest.raises(dg.Failure, match="release that one first"):
        run(series, instance, "2024-10-01")


def test_great_expectations_dying_is_a_failed_audit(series, monkeypatch):
    def ended(*_):
        raise EOFError

    monkeypatch.setattr(Judge, "ask", ended)
    with pytest.raises(AuditFailed, match="Great Expectations ended before it gave a verdict"):
        make(series, THIRD)
    assert not series.published(THIRD).exists()


# ---- what the UI shows


@pytest.mark.slow("takes more than a second")
def test_counts_that_plot_columns_and_where_they_come_from(third):
    series, instance, _ = third
    shown = entries(instance, "release", THIRD)
    counts = ["people released", "people who are new", "people carried over", "people who returned", "groups"]
    counts += ["counterfeits", "mean width of age (years)", "mean width of zipcode (values)"]
    counts += ["mean width of sex (labels)", "mean error of counts (%)", "time: algorithm (s)"]
    assert all(isinstance(shown[name], int | float) for name in counts)
    audited = entries(instance, "audit", THIRD)
    assert audited["checks"] == "9, all passed"  # no number: it would be plotted
    assert audited["promises"].endswith(", 0 broken")
    assert not [name for name in (*shown, *audited) if "_" in name and "dagster/" not in name]
    columns = [column.name for column in shown["dagster/column_schema"].columns]
    microdata = pl.read_parquet(series.published(THIRD) / "microdata.parquet")
    assert columns == microdata.columns
    lineage = shown["dagster/column_lineage"].deps_by_column
    assert lineage["age_low"] == [dg.TableColumnDep(key("snapshot"), "age")]
    compared = entries(instance, "delta", THIRD)
    assert compared["people whose wrong value was corrected"] == 0
    assert all(isinstance(value, int) for value in compared.values())
    assert entries(instance, "snapshot", THIRD)["people"] == 300


def test_every_figure_that_is_counted_has_a_name_that_a_reader_knows():
    counted = [AttackFigures, *(kind.counted for kind in (*KINDS, *RULES)), DeltaFigures]
    counted += [ReleaseFigures, *subclasses(ReleaseFigures)]
    names = {name for kind in counted for name in vars(kind).get("__annotations__", ()) if name[:3] != "by_"}
    plain = {"groups", "counterfeits", "rows"}  # the last one is shown nowhere
    assert names - NAMES.keys() - CONSTANT - plain == set()


def subclasses(kind):
    return [further for one in kind.__subclasses__() for further in (one, *subclasses(one))]


@pytest.mark.slow("takes more than a second")
def test_figures_have_the_digits_that_matter_and_types_a_readers_words(hospital, tmp_path, instance):
    series = hospital.declare(sensitive={"values": None}).series(tmp_path / "home")
    result = run(series, instance, FIRST)
    shown = {name: figure for asset in ASSETS for name, figure in entries(instance, asset, FIRST).items()}
    rows = [row.data for check in checks(result).values() for row in getattr(table_of(check), "records", ())]
    numbers = [*shown.values(), *(entry for row in rows for entry in row.values())]
    numbers = [one for one in numbers if isinstance(one, float)]
    assert len(numbers) > 6
    assert all(one == float(f"{one:.3g}") for one in numbers)
    types = {column.name: column.type for column in shown["dagster/column_schema"].columns}
    of_snapshot = entries(instance, "snapshot", FIRST)["dagster/column_schema"].columns
    types |= {column.name: column.type for column in of_snapshot}
    assert types["disease"] == types["patient_id"] == "text or whole number"
    assert set(types.values()) == {"text or whole number", "text", "whole number", "date"}


def table_of(check):
    return check.metadata["evidence"].value if "evidence" in check.metadata else None


@pytest.mark.slow("takes more than a second")
def test_promised_and_found_is_one_chart_over_the_releases_with_a_mark_where_a_parameter_changed(
    hospital, series, instance
):
    changed = hospital.declare(principle={"m": 4}, accept={THIRD: ["m"]}).series(series.home.path)
    run(changed, instance, THIRD)
    audited = entries(instance, "audit", THIRD)
    (chart,) = drawn(audited["promised and found, over the releases"])
    for words in ("promised: at least 3, 4", ">fewest<", ">m 3 → 4<", *(f">{one}<" for one in RELEASES)):
        assert words in chart
    assert "How many values are possible for a person" in audited["promised and found, over the releases"]
    assert audited["groups that a person may be in (mean)"] > 1


def drawn(markdown):
    """The charts in an entry, as SVG."""
    return [base64.b64decode(one).decode() for one in re.findall(r"svg\+xml;base64,([^)]*)\)", markdown)]


@pytest.mark.slow("takes more than a second")
def test_nothing_that_is_shown_is_about_a_person(third):
    series, instance, _ = third
    hospital = Hospital(series.file.path.parent)
    hospital.deliver("2024-10-01", pl.concat([hospital.snapshot(THIRD)] * 2))
    assert not run(series, instance, "2024-10-01", raise_on_error=False).success
    events = []
    for stored in instance.get_runs():
        events += [json.dumps(dg.serialize_value(entry)) for entry in instance.all_logs(stored.run_id)]
    assert len(events) > 50
    assert not any(IDENTIFIER.search(event.encode()) for event in events)


# ---- by itself


def tick(series, instance, date):
    repository = definitions(series).get_repository_def()
    schedule = repository.get_schedule_def(f"{automation_name('hospital', series.contract.series)}_schedule")
    when = dt.datetime.fromisoformat(date).replace(tzinfo=dt.UTC)
    context = dg.build_schedule_context(
        instance=instance, scheduled_execution_time=when, repository_def=repository
    )
    found = schedule.evaluate_tick(context)
    return found.run_requests[0].partition_key if found.run_requests else found.skip_message


def arrival(series, instance):
    repository = definitions(series).get_repository_def()
    sensor = repository.get_sensor_def(f"{automation_name('hospital', series.contract.series)}_arrival")
    cursor = None
    for _ in range(2):  # what is there has to be the same twice
        context = dg.build_sensor_context(instance=instance, repository_def=repository, cursor=cursor)
        found = sensor.evaluate_tick(context)
        cursor = found.cursor
    if found.run_requests:
        return found.run_requests[0].partition_key, found.run_requests[0].run_key
    return found.skip_message


def test_a_sensor_asks_for_nothing_while_a_snapshot_grows(series, instance, hospital):
    repository = definitions(series).get_repository_def()
    sensor = repository.get_sensor_def(f"{automation_name('hospital', series.contract.series)}_arrival")
    snapshot, cursor, asked = hospital.snapshot(THIRD), None, []
    for rows in (100, 200, 300, None, None):
        if rows:
            hospital.deliver(THIRD, snapshot[:rows])
        context = dg.build_sensor_context(instance=instance, repository_def=repository, cursor=cursor)
        found = sensor.evaluate_tick(context)
        cursor = found.cursor
        asked.append([request.run_key for request in found.run_requests or ()])
        if not asked[-1]:
            assert f"the snapshot of {THIRD} is there; it is released once" in found.skip_message
    assert [len(one) for one in asked] == [0, 0, 0, 1, 1]
    assert asked[-1] == asked[-2]  # once: Dagster begins no second run of one key


def test_a_schedule_releases_on_its_date(series, instance):
    assert tick(series, instance, THIRD) == THIRD


def test_a_schedule_skips_with_the_reason(series, instance, hospital):
    assert tick(series, instance, SECOND) == f"{SECOND} is published"
    assert tick(series, instance, "2024-10-01") == f"the release before, {THIRD}, is not published yet"
    hospital.file(THIRD).unlink()
    assert tick(series, instance, THIRD) == f"the snapshot of {THIRD} has not arrived"


def test_a_schedule_skips_while_an_object_store_does_not_answer(hospital, home, instance, monkeypatch):
    pytest.importorskip("obstore", reason="needs obstore: pip install 'republish[stores]'")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    hospital.declare(source={"path": "s3://bucket/{release}.parquet"})
    assert "the store can't be used" in tick(hospital.series(home), instance, THIRD)


def test_a_sensor_releases_when_a_snapshot_has_arrived_and_again_when_it_was_corrected(
    series, instance, hospital
):
    snapshot = hospital.snapshot(THIRD)
    hospital.file(THIRD).unlink()
    assert arrival(series, instance) == f"the snapshot of {THIRD} has not arrived"
    hospital.deliver(THIRD, pl.concat([snapshot, snapshot]))
    release, bad = arrival(series, instance)
    assert release == THIRD
    assert arrival(series, instance) == (THIRD, bad)  # asked for once: the same run key
    hospital.deliver(THIRD, snapshot)
    release, corrected = arrival(series, instance)
    assert release == THIRD
    assert corrected != bad
    contract = hospital.declare(principle={"on_ineligible": "wait"}).series(series.home.path)
    assert arrival(contract, instance)[1] != corrected


@dg.op
def refuses():
    raise dg.Failure


def refused(series, instance, release):
    """A run of a release that failed because a step did."""
    job = dg.GraphDefinition(name="refused", node_defs=[refuses]).to_job(job_name("hospital"))
    tags = {**series_tag(series), PARTITION: release}
    job.execute_in_process(instance=instance, tags=tags, raise_on_error=False, run_config=QUIET)


def died(series, instance, release):
    """A run of a release that failed because its process was gone."""
    job = dg.JobDefinition(name=job_name("hospital"), graph_def=dg.GraphDefinition(name="none"))
    run = instance.create_run_for_job(job, tags={**series_tag(series), PARTITION: release})
    instance.report_run_failed(run)


def test_a_sensor_tries_a_release_again_whose_run_died_and_a_few_times_at_most(series, instance):
    asked = [arrival(series, instance)]
    refused(series, instance, THIRD)
    assert arrival(series, instance) == asked[0]  # a refusal is tried once
    for _ in range(5):
        died(series, instance, THIRD)
        asked.append(arrival(series, instance))
    assert [release for release, _ in asked] == [THIRD] * 6
    assert len({key for _, key in asked}) == 1 + 3


def test_a_sensor_has_a_release_finished_whose_run_died_after_it_was_published(series, instance):
    """People are forgotten by the contract's rule after that, and no other release is due for months."""
    refused(series, instance, SECOND)
    assert arrival(series, instance)[0] == THIRD
    keys = set()
    for _ in range(3):
        died(series, instance, SECOND)
        release, key = arrival(series, instance)
        assert release == SECOND
        keys.add(key)
    assert len(keys) == 3
    died(series, instance, SECOND)
    assert arrival(series, instance)[0] == THIRD


def test_the_daemon_ends_runs_whose_process_is_gone_and_only_those(hospital, home):
    series = hospital.series(home)
    job = definitions(series).resolve_job_def(job_name("hospital"))
    with dagster_instance(series.home) as instance:
        dead, alive = (instance.create_run_for_job(job, tags=series_tag(series)).run_id for _ in range(2))
        for run in (dead, alive):
            instance.handle_run_event(run, dg.DagsterEvent("PIPELINE_START", job.name))
        workers.hold(series.home, alive)
        (home / "dagster" / workers.WORKERS / dead).touch()
        watched(series, instance)
        assert instance.get_run_by_id(dead).is_failure
        assert not instance.get_run_by_id(alive).is_finished
        assert workers.files(series.home) == [alive]


@pytest.mark.slow("makes and audits many releases")
def test_whoever_makes_the_steps_of_a_run_is_at_work_on_it(hospital, home):
    """Also if the daemon launched it, or a backfill did, whose runs are of another job."""
    series = hospital.series(home)
    job = definitions(series).resolve_job_def(job_name("hospital"))
    with dagster_instance(series.home) as instance:
        made = job.execute_in_process(partition_key=THIRD, instance=instance, run_config=QUIET)
        assert workers.files(series.home) == [made.run_id]
        assert workers.left(series.home) == []


def test_a_sensor_has_nothing_to_do_once_all_is_published(series, instance, monkeypatch):
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2024, 5, 1, tzinfo=dt.UTC))
    assert arrival(series, instance) == "every release that is due is published"


def watched(series, instance, cursor=None):
    """What the checks found that are looked at all the time, and what the sensor remembers of it."""
    repository = definitions(series).get_repository_def()
    sensor = repository.get_sensor_def(f"{job_name('hospital')}_watch")
    context = dg.build_sensor_context(instance=instance, repository_def=repository, cursor=cursor)
    found = sensor.evaluate_tick(context)
    return {one.check_name: one for one in found.asset_events}, found.cursor


@pytest.mark.slow("takes more than a second")
def test_a_release_that_is_late_is_a_check_that_fails(series, instance, monkeypatch):
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2024, 7, 1, 12, tzinfo=dt.UTC))
    found, cursor = watched(series, instance)
    assert found["freshness"].passed
    assert found["freshness"].description == f"{THIRD} is due today, and not published yet."
    assert watched(series, instance, cursor)[0] == {}  # nothing has changed
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2024, 7, 2, tzinfo=dt.UTC))
    found, cursor = watched(series, instance, cursor)
    assert not found["freshness"].passed
    assert found["freshness"].description.startswith(f"{THIRD} is due and not published. It is late")
    make(series, THIRD)
    found, _ = watched(series, instance, cursor)
    assert found["freshness"].passed
    assert found["last_run"].description == "No release was attempted yet."


@pytest.mark.slow("takes more than a second")
def test_a_run_that_failed_is_a_check_that_fails_until_one_ends_well(series, instance, hospital):
    snapshot = hospital.snapshot(THIRD)
    hospital.deliver(THIRD, snapshot.drop("age"))
    assert not run(series, instance, THIRD, raise_on_error=False).success
    found, _ = watched(series, instance)
    assert not found["last_run"].passed
    assert f"The last run, of {THIRD}, failed: " in found["last_run"].description
    assert "the column age is missing" in found["last_run"].description
    hospital.deliver(THIRD, snapshot)
    run(series, instance, THIRD)
    assert watched(series, instance)[0]["last_run"].passed


def test_both_are_executed_by_themselves_too(series, instance):
    job = definitions(series).resolve_implicit_global_asset_job_def()
    keys = [dg.AssetCheckKey(key("publication"), name) for name in ("freshness", "last_run")]
    result = job.get_subset(asset_check_selection=set(keys)).execute_in_process(instance=instance)
    assert {one.check_name: one.passed for one in result.get_asset_check_evaluations()} == {
        "freshness": False,
        "last_run": True,
    }


@pytest.mark.slow("takes more than a second")
def test_a_source_that_cannot_be_asked_is_a_reason_to_skip(series, instance, hospital):
    text = hospital.contract.read_text()
    query = "  dsn: duckdb:///source.duckdb\n  query: SELECT nonsense\n"
    hospital.contract.write_text(text.replace("  path: snapshots/hospital/{release}.parquet\n", query))
    (hospital.folder / "source.duckdb").write_bytes(b"no database")
    asked = hospital.series(series.home.path)
    assert "no DuckDB file that can be read" in arrival(asked, instance)
    assert "no DuckDB file that can be read" in tick(asked, instance, THIRD)


def test_a_release_begins_once_what_is_upstream_of_it_is_materialized(hospital, series, tmp_path):
    instance = dg.DagsterInstance.local_temp(str(tmp_path))
    series = hospital.declare(upstream=["warehouse/patients", "warehouse/wards"]).series(series.home.path)
    patients, wards = (dg.AssetKey(["warehouse", name]) for name in ("patients", "wards"))

    def report(asset, partition):
        instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=partition))

    report(patients, SECOND)
    waits = f"warehouse/patients is not materialized for {THIRD} yet"
    assert (arrival(series, instance), tick(series, instance, THIRD)) == (waits, waits)
    report(patients, THIRD)
    assert arrival(series, instance) == f"warehouse/wards is not materialized for {THIRD} yet"
    report(wards, None)  # it has no partitions
    release, first = arrival(series, instance)
    assert (release, tick(series, instance, THIRD)) == (THIRD, THIRD)
    assert arrival(series, instance) == (THIRD, first)
    report(patients, THIRD)  # made once more, because the release was refused, say
    assert arrival(series, instance)[1] != first


def test_runs_of_two_series_have_other_keys_and_tags(hospital, series, instance):
    """Else a second series, which releases the same dates again, would be taken for the first one's."""
    _, first = arrival(series, instance)
    second = hospital.declare(series="v2", separate_readers=True).series(series.home.path / "elsewhere")
    hospital.file(FIRST).touch()
    _, other = arrival(second, instance)
    assert (first.split()[0], other.split()[0]) == ("v1", "v2")
    jobs = [definitions(each).resolve_job_def(job_name("hospital")) for each in (series, second)]
    assert [job.run_tags["republish/series"] for job in jobs] == ["v1", "v2"]


# ---- what checks say


def test_every_check_blocks_what_comes_after_it(series):
    nodes = graph(series).asset_check_keys
    assert nodes
    late = {key for key in nodes if key.name in ("freshness", "last_run")}  # they refuse nothing
    assert all(graph(series).get(check).blocking == (check not in late) for check in nodes)


@pytest.fixture(scope="module")
def third(_built, tmp_path_factory):
    """A series whose third release was made in one run; its instance, and what the run gave. To look at."""
    folder = tmp_path_factory.mktemp("third")
    shutil.copytree(_built, folder, dirs_exist_ok=True)
    with dg.DagsterInstance.ephemeral() as instance:
        series = Hospital(folder / "hospital").series(folder / "home")
        yield series, instance, run(series, instance, THIRD)


@pytest.mark.slow("takes more than a second")
def test_checks_say_what_was_promised_and_what_was_found(third):
    _, instance, result = third
    found = checks(result)
    assert (
        "At least 3 values in each group with anybody new: fewest found 3."
        in found["m_uniqueness"].description
    )
    assert (
        "Candidates by quasi-identifiers: at least 3 promised, fewest found 3, which keeps it;"
        in found["attack"].description
    )
    assert found["snapshot"].description.startswith("300 people in 6 columns: 0 nulls")
    assert "(at least 0.5 is expected)" in checks(result, "delta")["expected"].description
    share = "% of the tuples would be counterfeits (at most 0.5 is expected)"
    assert checks(result, "release")["expected"].description.endswith(share)
    assert found["manifest_chain"].description.endswith("follows 2 earlier ones.")
    promises = {record.data["promise"] for record in found["attack"].metadata["evidence"].records}
    assert "candidates by quasi-identifiers" in promises

    report = entries(instance, "publication", THIRD)["report"]
    assert f"**hospital/v1, {THIRD}**: m_invariance (m 3" in report
    assert all(check.description in report for check in found.values() if check.asset_key == key("release"))
    shown = entries(instance, "release", THIRD)
    assert shown["possible values left, by quasi-identifiers (fewest)"] == 3
    assert shown["possible values left, by group (fewest)"] == 3
    assert found["m_uniqueness"].metadata["expectations"].value == 4
    assert found["coverage"].metadata["not covered"].value == 0
    columns = {
        name for record in found["minimum_widths"].metadata["evidence"].records for name in record.data
    }
    assert columns >= {"least width allowed", "too narrow", "mean width"}
    assert not [name for check in found.values() for name in check.metadata if "_" in name]
    assert 0 < shown["mean error of counts (%)"] < 200
    assert "interval widths" in shown


@pytest.mark.slow("takes more than a second")
def test_a_check_that_fails_lists_what_is_broken(series, instance, monkeypatch):
    monkeypatch.setitem(principles.PRINCIPLES, "m_invariance", mutant(with_one_disease))
    found = checks(run(series, instance, THIRD, raise_on_error=False))
    said, *broken = found["m_uniqueness"].description.splitlines()
    assert said.startswith("At least 3 values in each group with anybody new: fewest found 1.")
    assert len(broken) > 1
    assert all(line.startswith("- ") and "Not so in" in line for line in broken)
    assert found["m_uniqueness"].metadata["broken promises"].value.splitlines() == broken


@pytest.mark.slow("takes more than a second")
def test_a_check_that_came_after_a_release_was_published_does_not_refuse_it(series, instance, monkeypatch):
    principle = principles.PRINCIPLES["m_invariance"]

    def promise(parameters):
        return Promise(*principle.promise(parameters), Signatures("even"))

    more = replace(principle, promise=promise)
    monkeypatch.setitem(principles.PRINCIPLES, "m_invariance", more)
    result = run(series, instance, SECOND)
    late = checks(result)["balance"]
    assert (late.passed, late.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert late.description == "- Not checked when the release was published."
