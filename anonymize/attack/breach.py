"""The breach probability of values that come and go: ever linked to it, over all releases."""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.figures import BreachFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.judged import Bounds, judged, promised
from republish.anonymize.attack.numbers import joined
from republish.anonymize.columns import most_of
from republish.anonymize.rounding import MANY_STEPS

BREACH = "breach"
"""What is remembered: `person`, `value`, `breach`, `promised`. Where the promise forgets people who are
absent, `last_seen` too, and nothing of those whom it has forgotten."""


def attack_breach(seen: AttackInput, most: Bounds[float], forgets_after: int | None) -> AttackResult:
    """Compute how likely each person was ever linked to a value, and compare it with their strictest promise.

    A link that this release has not touched is a matter of the releases that made it: a stricter promise may
    have been made since. People who were absent from `forgets_after` releases in a row are promised it anew.

    Without the linkage, a group may cover somebody by chance who is held back, and who then seems linked to
    its values. As many people as were held back so far count as undecided instead of broken.
    """
    if most[-1] is None and not seen.told.everything:
        return AttackResult()
    before, present = seen.before.parts.get(BREACH), _of_holders(seen.known.select("person"), seen).unique()
    before = None if before is None else _of_holders(before, seen)
    link = link_probabilities if seen.schema.rows == "one" else link_holders
    links = link(_of_holders(seen.hosts, seen), seen.published.values)
    links = links.filter(~seen.schema.sensitive.may_be_known(links["value"]))
    state = _followed(links, before, seen.release, most)
    figures = BreachFigures(most_of(state["breach"]))
    touched = state.join(links.select("person", "value"), on=["person", "value"], how="semi")
    owed = touched.with_columns(promised(most).alias("most")).drop_nulls("most")
    kept = state
    if most[-1] is not None and forgets_after is not None:
        kept = forget_absent(state, present, seen.release, forgets_after)
    people = owed.group_by("person", bound="most").agg(found=pl.col("breach").max())
    people = people.with_columns(is_broken=pl.col("found") > pl.col("bound") + MANY_STEPS)

    def excused(convicted: pl.DataFrame) -> int:  # by all of their rows
        return seen.excused(seen.holders.filter(pl.col("holder").is_in(convicted["person"].implode())))

    counts = judged(people, most, "max", excused)
    return AttackResult({"": counts}, figures, by_promise(owed), {BREACH: kept})


def _of_holders(rows: pl.DataFrame, seen: AttackInput) -> pl.DataFrame:
    """The table with the holder of each row in place of it."""
    if seen.schema.rows == "one":
        return rows
    return joined(rows, seen.holders).with_columns(person="holder").drop("holder")


def by_promise(owed: pl.DataFrame) -> pl.DataFrame:
    """Count links (`person`, `breach`, `most`) by the largest probability that was promised to their people.

    The columns are `promised`, `people`, `links`, `above`, `largest`.
    """
    # Products of shares such as 1/3 round, once for each release.
    is_kept = (pl.col("breach") - pl.col("most")).abs() <= MANY_STEPS
    exact = owed.with_columns(breach=pl.when(is_kept).then("most").otherwise("breach"))
    return (
        exact.group_by(promised="most")
        .agg(
            people=pl.col("person").n_unique().cast(pl.Int64),
            links=pl.len().cast(pl.Int64),
            above=(pl.col("breach") > pl.col("most")).sum().cast(pl.Int64),
            largest=pl.col("breach").max(),
        )
        .sort("promised")
    )


def _followed(
    links: pl.DataFrame, before: pl.DataFrame | None, release: int, most: Bounds[float]
) -> pl.DataFrame:
    """Breach probabilities after one more release, each with the release of the strictest promise."""
    now = links.select("person").unique().with_columns(promised=pl.lit(release, pl.Int32))
    given = now if before is None else pl.concat([before.select(now.columns).unique(), now])
    strictest = given.with_columns(promised(most).alias("most")).sort("most", "promised", nulls_last=True)
    since = strictest.group_by("person").agg(pl.col("promised").first())
    if before is None:
        return breach_probability(links).join(since, on="person")
    after = breach_probability(links, before.select("person", "value", "breach")).join(since, on="person")
    if "last_seen" not in before.columns:
        return after
    return after.join(before.select("person", "last_seen").unique(), on="person", how="left")


def link_probabilities(hosts: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Link each person to each value of their group: `person`, `value`, `probability`.

    The probability is the value's share of the group, 1/r.
    """
    share = pl.col("tuples") / pl.col("tuples").sum().over("group_id")
    shares = values.select("group_id", "value", share.alias("probability"))
    return hosts.join(shares, on="group_id", how="inner").select("person", "value", "probability")


def link_holders(hosts: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Link people who may be in several groups, and several times in one, to each value of any of them.

    Two rows in one group have two of its tuples, so that the second one is drawn from those that the first
    one left. The result is as that of `link_probabilities`.
    """
    all_tuples = pl.col("tuples").sum().over("group_id")
    held = values.select("group_id", "value", "tuples", all=all_tuples)
    drawn = hosts.group_by("person", "group_id").len("rows").with_columns(turn=pl.int_ranges("rows"))
    each = drawn.explode("turn").join(held, on="group_id")
    others = (pl.col("all") - pl.col("tuples") - pl.col("turn")).clip(0)
    escaped = (others / (pl.col("all") - pl.col("turn"))).product()
    return each.group_by("person", "value").agg(probability=1 - escaped)


def breach_probability(links: pl.DataFrame, state: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compute the probability that a person was linked to a value in at least one release so far.

    It is 1 - prod(1 - 1/r_i), over the releases in which the person's group holds the value, from what
    `link_probabilities` returned for this release, and what this function (`person`, `value`, `breach`) did
    for the one before.

    References
    ----------
    Wong et al., Preserving individual privacy in serial data publishing, Lemma 4.2.
    """
    now = links.select("person", "value", pl.col("probability").alias("breach"))
    if state is None:
        return now
    # Kept as the probability of having escaped only inside this product: 1 - (1 - p)(1 - q).
    escaped = (1 - pl.col("breach")).product()
    return pl.concat([state, now]).group_by("person", "value").agg((1 - escaped).alias("breach"))


def forget_absent(state: pl.DataFrame, present: pl.DataFrame, release: int, after: int) -> pl.DataFrame:
    """Forget the links of people who were absent from so many releases in a row, `after`.

    An adversary forgets nothing. This is for judging a publisher whose contract says `forget_after`: people
    who return after such an absence are given the same promise anew. `present` is everybody in T(n), in the
    release or held back; `last_seen` of the state is null at the first call for a person.
    """
    seen = state.join(present.select("person", is_here=pl.lit(value=True)), on="person", how="left")
    before = pl.col("last_seen") if "last_seen" in state.columns else pl.lit(None, pl.Int64)
    last_seen = pl.when("is_here").then(pl.lit(release, pl.Int64)).otherwise(before.cast(pl.Int64))
    return (
        seen.with_columns(last_seen=last_seen).drop("is_here").filter(pl.col("last_seen") > release - after)
    )
