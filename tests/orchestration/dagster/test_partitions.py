"""Our dates of a schedule are Dagster's: it runs the schedule, and releases are its partitions."""

import datetime as dt
import itertools
import re
from types import SimpleNamespace

import pytest
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._utils.schedules import is_valid_cron_string, schedule_execution_time_iterator
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from republish.orchestration.contracts import schedule
from republish.orchestration.contracts.schedule import schedule_fault, ticks
from republish.orchestration.dagster.partitions import for_dagster, release_partitions
from republish.orchestration.series import calendar
from republish.orchestration.series.calendar import calendar_of

NOT_ACCEPTED = "is not a schedule that Dagster accepts"
FIRST = dt.date(2023, 12, 31)
MIDNIGHT = dt.time(tzinfo=dt.UTC)
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


def some_of(lowest, highest, names=(), others=()):
    """One field of a cron: a star, numbers, names, steps, ranges, and lists of these."""
    number = st.integers(lowest, highest).map(str)
    name = st.sampled_from([*names, *(name.upper() for name in names)]) if names else number
    step = st.integers(1, highest + 2).map(str)
    ranges = st.builds("{}-{}".format, st.one_of(number, name), st.one_of(number, name))
    steps = st.builds("{}/{}".format, st.one_of(st.just("*"), number, ranges), step)
    one = st.one_of(number, name, ranges, steps, *([st.sampled_from(others)] if others else []))
    return st.one_of(st.just("*"), one, st.lists(one, min_size=2, max_size=3).map(",".join))


DAYS = some_of(1, 31, (), ("L", "29", "30", "31"))
ON_DAYS = st.builds(
    "{} {} {}".format,
    DAYS,
    some_of(1, 12, MONTHS),
    some_of(0, 7, WEEKDAYS, ("L5", "5#1", "fri#2", "mon#5", "1#1,3#3")),
)
ONCE_A_DAY = st.builds("{} {} {}".format, st.integers(0, 59), st.integers(0, 23), ON_DAYS)
CRONS = st.one_of(ONCE_A_DAY, st.builds("{} {} {}".format, some_of(0, 59), some_of(0, 23), ON_DAYS))
WRITTEN = [
    *("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "0 0 * * *", "0 0 1 */3 *"),
    *("0 0 29 2 *", "30 6 29 2 *", "0 0 29 FEB *", "0 0 L * *", "0 0 L 2 *", "0 0 1,L * *"),
    *(
        "0 0 31 * *",
        "0 0 30 * *",
        "0 0 */15 * *",
        "0 0 28-31 * *",
        "0 0 29,30 2 *",
        "0 0 1,29 * *",
        "0 0 29,L * *",
        "0 0 29 2,4 *",
        "59 23 31 12 *",
    ),
    *("0 0 13 * FRI", "0 0 1-7 * MON", "0 0 1 * MON,WED", "0 0 */2 * MON", "0 0 L * 1", "0 6 1 NOV-FEB *"),
    *("0 0 * * 7", "0 0 * * 0-7", "0 0 * * SUN", "0 0 * * 6/7", "0 0 * 12/7 3", "0 0 * * L5", "0 0 * * 1#2"),
    "0 0 1 * ?",
]
REFUSED = [
    *(
        "",
        " ",
        "monthly",
        "@reboot",
        "0 0 * *",
        "0 0 * * * *",
        "0 0 1 1 * 0 2024",
        "61 0 * * *",
        "0 24 * * *",
    ),
    *("0 0 0 * *", "0 0 32 * *", "0 0 1 0 *", "0 0 1 13 *", "0 0 * * 8", "0 0 -1 * *", "0 0 1- * *"),
    *("0 0 1/ * *", "0 0 */0 * *", "0 0 30 2 *", "0 0 31 FEB *", "0 0 15W * *", "0 0 w15 * *", "0 0 LW * *"),
    *("0 0 L-3 * *", "0 0 * * 1,5#2", "0 0 * * 5#6", "H H * * *"),
]
BY_CHANCE = ["R 0 1 * *", "0 r(1-5) 1 * *", "0 0 R * *", "0 0 1 R *", "0 0 * * R/2"]


@pytest.fixture
def at(monkeypatch):
    def set_clock(moment):
        monkeypatch.setattr(calendar, "now", lambda: moment)

    return set_clock


def declared(cron, first=FIRST, last=None):
    """The parts of a contract that its dates follow from."""
    start = first if cron is None else next(ticks(cron, first)).date()
    releases = SimpleNamespace(cron=cron, first=first, last=last, dates=())
    return SimpleNamespace(contract=SimpleNamespace(releases=releases), first_release=start.isoformat())


def by_dagster(file, moment):
    """Dagster's partitions, without the first where it is there before its time."""
    with partition_loading_context(moment):
        found = release_partitions(file).get_partition_keys()
    first, cron = dt.date.fromisoformat(file.first_release), file.contract.releases.cron
    begins = next(ticks(cron, first)) if cron else dt.datetime.combine(first, MIDNIGHT)
    return found if begins <= moment else found[1:]


def moments(file, first):
    """When something may become due: around the ticks, at midnights, and long after."""
    cron = file.contract.releases.cron
    days = [first + dt.timedelta(days=days) for days in (-200, -1, 0, 59, 75, 400)]
    found = [tick for tick in itertools.islice(ticks(cron, first), 3) if tick.year < 2060] if cron else []
    found += [dt.datetime.combine(day, MIDNIGHT) for day in days]
    minute = dt.timedelta(minutes=1)
    return [one + shift for one in found for shift in (-minute, dt.timedelta())]


def the_same_dates(file, at, moments):
    for moment in moments:
        at(moment)
        assert calendar_of(file).due == by_dagster(file, moment), (file.contract.releases.cron, moment)


@pytest.mark.slow("compares dates at many moments")
@pytest.mark.parametrize("cron", WRITTEN)
def test_the_dates_of_a_schedule_are_dagsters_partitions_and_ticks_whether_it_ends_or_not(cron, at):
    assert schedule_fault(cron, FIRST) is None
    since = dt.datetime.combine(FIRST, MIDNIGHT)
    theirs = schedule_execution_time_iterator(since.timestamp(), for_dagster(cron), "UTC")
    ours = list(itertools.islice(ticks(cron, FIRST), 8))
    assert [tick.astimezone(dt.UTC) for tick in itertools.islice(theirs, 8)] == ours
    file = declared(cron)
    the_same_dates(file, at, moments(file, FIRST))
    third = ours[2].date()
    for last in (FIRST + dt.timedelta(days=400), third, third - dt.timedelta(days=1)):
        file = declared(cron, last=last)
        if last >= dt.date.fromisoformat(file.first_release):
            days = [last + dt.timedelta(days=after) for after in (0, 1, 800)]
            the_same_dates(file, at, [dt.datetime.combine(day, MIDNIGHT) for day in days])
            assert max(calendar_of(file).due) <= last.isoformat()


@pytest.mark.slow("takes more than a second")
@settings(max_examples=20)
@given(cron=ONCE_A_DAY, days=st.integers(0, 1600))
@example(cron="0 0 29 2 *", days=60)  # Dagster's own reading begins with the leap day after this one
def test_of_any_schedule_too(cron, days):
    first = dt.date(2024, 1, 1) + dt.timedelta(days=days - 1)
    assume(schedule_fault(cron, first) is None)
    with pytest.MonkeyPatch.context() as clock:
        file = declared(cron, first)

        def set_clock(moment):
            clock.setattr(calendar, "now", lambda: moment)

        the_same_dates(file, set_clock, moments(file, first))


def test_a_single_release_is_due_on_its_date(at):
    file = declared(None)
    the_same_dates(file, at, moments(file, FIRST))


@pytest.mark.parametrize("cron", [None, "0 6 1 * *"])
def test_the_first_release_is_not_due_before_its_time(cron, at):
    file = declared(cron, dt.date(2024, 3, 1))
    at(dt.datetime(2024, 2, 29, 23, 59, tzinfo=dt.UTC))
    assert calendar_of(file).due == []
    at(dt.datetime(2024, 3, 1, 6 if cron else 0, tzinfo=dt.UTC))
    assert calendar_of(file).due == ["2024-03-01"]


def test_the_ticks_of_the_past_are_found_once_a_day(at, monkeypatch):
    """A server asks every minute, and a daily series of ten years has 3,650 of them."""
    found = []

    def counted(cron, first):
        for tick in ticks(cron, first):
            found.append(tick)
            yield tick

    file = declared("0 6 * * *", dt.date(2014, 1, 1))
    monkeypatch.setattr(schedule, "ticks", counted)
    for minute in range(3):
        at(dt.datetime(2024, 1, 1, 12, minute, tzinfo=dt.UTC))
        assert len(calendar_of(file).due) == 3653
    assert len(found) < 3700


@pytest.mark.parametrize("cron", REFUSED)
def test_what_dagster_refuses_is_refused(cron):
    assert not is_valid_cron_string(cron)
    assert NOT_ACCEPTED in schedule_fault(cron, FIRST)


@pytest.mark.parametrize("cron", ["0 0 29 * 0", "0 0 5,29 * SUN", "0 0 29 1-3 1,2", "0 0 29 2 MON"])
def test_a_leap_day_beside_weekdays_is_refused_because_dagster_misreads_it(cron):
    assert is_valid_cron_string(cron)
    assert "write the days of the month or the weekdays" in schedule_fault(cron, FIRST)


@pytest.mark.parametrize("cron", ["0 0 29 * *", "30 6 5,29-31 * *", "0 0 29 2-3 *", "0 0 27,29 FEB,MAR *"])
def test_the_29th_is_refused_where_dagster_fails_in_march_of_a_leap_year(cron):
    march = dt.datetime(2024, 3, 4, tzinfo=dt.UTC).timestamp()
    with pytest.raises(Exception, match="Invariant failed"):
        next(schedule_execution_time_iterator(march, for_dagster(cron), "UTC"))
    assert "write 28, or L for the last day of the month" in schedule_fault(cron, FIRST)


@pytest.mark.parametrize("cron", BY_CHANCE)
def test_a_schedule_by_chance_is_refused_although_dagster_accepts_it(cron):
    assert is_valid_cron_string(cron)
    assert "ticks at times by chance" in schedule_fault(cron, FIRST)


@settings(max_examples=50)
@given(
    st.one_of(
        CRONS,
        st.lists(st.text("0123456789*/,-#?@LlWwRrHh mon", max_size=6), max_size=7).map(" ".join),
        st.builds("{} {} {} {} {}".format, *[st.text("0123456789*/,-#LWRHfeb", min_size=1, max_size=5)] * 5),
    )
)
def test_dagster_accepts_exactly_the_schedules_that_have_no_such_fault(cron):
    """The fault of a schedule that never ticks, ticks twice a day or by chance is another one."""
    fault = schedule_fault(cron, FIRST) or ""
    assert (NOT_ACCEPTED not in fault) == is_valid_cron_string(cron)


@pytest.mark.parametrize("first", [dt.date(1, 1, 1), dt.date(9999, 12, 31)])
def test_at_the_ends_of_the_calendar_a_schedule_never_ticks(first):
    assert re.search("never ticks on or after", schedule_fault("0 0 1 */3 *", first))
