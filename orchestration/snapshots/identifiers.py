"""A check that identifiers have the form of those in the snapshot before: people keep their identifiers."""

from __future__ import annotations

import polars as pl

from republish.anonymize.columns import exactly, most_of
from republish.anonymize.spelling import FORMS, identifier_forms

ALIKE = 0.5
"""The share of the identifiers that have to be found again in another form."""
MOST_EXTENDED = 200_000
"""The same, for finding those that gained or lost characters."""
SHIFTS, DEVIATIONS = 7, 3
"""By how many other pairings chance is measured, and by how many standard deviations it is to be exceeded."""
MOST_COMPARED = 20_000
"""New identifiers, and identifiers that are gone, up to which they are compared character by character."""


def changed_form(before: pl.Series, now: pl.Series) -> str | None:
    """The difference between the identifiers of two snapshots, if most of them are the same but for that.

    Identifiers are text, numbers or bytes.

    Returns
    -------
    str or None
        A sentence for the publisher; None if no form fits. It contains no identifier.
    """
    read = [_texts(column) for column in (before, now)]
    texts = [text.unique() for text in read if text is not None and len(text)]
    if len(texts) < len(read):
        return None
    found = _shared(*texts)
    for what, bare in FORMS.items():
        shared = _shared(*(bare(text) for text in texts))
        if shared > found and shared >= ALIKE:
            return f"{shared:.0%} of the identifiers are those of the snapshot before, but for {what}"
    return None


def _shared(before: pl.Series, now: pl.Series) -> float:
    """The share of the identifiers before that are there again, of forms that only one of them has."""
    forms = before.unique()
    again = forms.is_in(now.unique().implode()) & (forms != "")
    return float(again.sum()) / before.len()


def _texts(identifiers: pl.Series) -> pl.Series | None:
    """Identifiers as text; None if they are bytes, and not all of them are UTF-8."""
    try:
        return identifiers.cast(pl.String)
    except pl.exceptions.ComputeError:
        return None


def named(identifiers: pl.Series, *rest: pl.Series) -> pl.DataFrame:
    """`text`, `rest_0`, …: people by their identifiers, with what else is in their rows.

    Bytes that are no text have no forms; they are an `x` and hexadecimal digits.
    """
    text = _texts(identifiers)
    text = "x" + identifiers.bin.encode("hex") if text is None else text
    others = [column.cast(pl.String).alias(f"rest_{number}") for number, column in enumerate(rest)]
    return pl.DataFrame([text.alias("text"), *others])


def gone_and_new(before: pl.DataFrame, now: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The people of each snapshot alone, each once; of what `named` returned of both."""
    gone, new = before.join(now, on="text", how="anti"), now.join(before, on="text", how="anti")
    return gone.unique("text", maintain_order=True), new.unique("text", maintain_order=True)


def drifted(gone: pl.DataFrame, new: pl.DataFrame) -> int:
    """How many identifiers are gone while they are there in another form; of what `gone_and_new` returned."""
    return int(identifier_forms(gone["text"]).is_in(_forms(new).implode()).sum())


def without_drifted(gone: pl.DataFrame, new: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People of each snapshot alone, without those who are there in another form."""
    forms = _forms(gone), _forms(new)
    others = (
        people.filter(~identifier_forms(people["text"]).is_in(there.implode()))
        for people, there in ((gone, forms[1]), (new, forms[0]))
    )
    return next(others), next(others)


def all_but_one_character(gone: pl.DataFrame, new: pl.DataFrame) -> int | None:
    """How many new identifiers are like one that is gone, but for a character more, less or another one.

    Returns
    -------
    int or None
        None if more than `MOST_COMPARED` are new or gone.
    """
    if max(len(gone), len(new)) > MOST_COMPARED:
        return None
    shorter_gone, shorter_new = _with_one_less(gone), _with_one_less(new)
    alike = [
        shorter_new.join(shorter_gone, on=("rest", "place")),  # another character
        shorter_new.join(gone, left_on="rest", right_on="text"),  # one more
        new.join(shorter_gone, left_on="text", right_on="rest"),  # one less
    ]
    return pl.concat(found["text"] for found in alike).n_unique()


def extended(gone: pl.DataFrame, new: pl.DataFrame) -> int | None:
    """How many people are new under a gone identifier that gained or lost the same characters at one place.

    A prefix, a hyphen, a last letter: the change that explains most of them counts. Letters and signs are all
    alike (a letter may be a check letter), and digits are not. At least half of the rest of their rows is the
    same, too, and of more of them than chance makes: among numbers that count people, many are others with a
    digit more, and their rows are as alike as any two. People who `drifted` are not counted again.

    Returns
    -------
    int or None
        None if more than `MOST_EXTENDED` are new or gone.
    """
    if max(len(gone), len(new)) > MOST_EXTENDED:
        return None
    gone, new = without_drifted(gone, new)
    bare = [
        people.select("text", bare=pl.col("text").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]", ""))
        for people in (gone, new)
    ]
    pairs = [
        *(
            _shorter(longer)
            .join(shorter, left_on="rest", right_on="text")
            .select("change", **{name: "text", other: "rest"})
            for longer, shorter, name, other in ((new, gone, "now", "before"), (gone, new, "before", "now"))
        ),
        bare[1]
        .join(bare[0].filter(pl.col("bare") != ""), on="bare", suffix="_gone")
        .select(change=pl.lit("signs"), now="text", before="text_gone"),
    ]
    changes = pl.concat(
        found.select("now", "before", change=pl.concat_str(pl.lit(f"{at} "), "change"))
        for at, found in enumerate(pairs)
    )
    both = changes.unique().join(new, left_on="now", right_on="text")
    both = both.join(gone, left_on="before", right_on="text", suffix="_before")
    rest = [name for name in new.columns if name != "text"]
    if not rest:  # nothing tells those who are meant from chance, but that digits are not what changed
        lettered = both.filter(~pl.col("change").str.contains(r"\d$")).group_by("change")
        return int(most_of(lettered.agg(pl.col("now").n_unique())["now"]) or 0)
    number = pl.int_range(pl.len())
    both = both.sort("change", "now", "before").with_columns(
        row=number, place=number.over("change"), size=pl.len().over("change")
    )
    found = (
        both.select("change", "now", *(_are_alike(rest, at).alias(f"alike_{at}") for at in range(SHIFTS + 1)))
        .group_by("change")
        .agg(
            pl.len(),
            people=pl.col("now").filter("alike_0").n_unique(),
            alike=pl.col("alike_0").sum(),
            chance=pl.mean_horizontal(exactly(f"alike_{at}").mean() for at in range(1, SHIFTS + 1)),
        )
    )
    expected, chance = pl.col("len") * pl.col("chance"), pl.col("chance")
    real = found.filter(pl.col("alike") > expected + DEVIATIONS * (expected * (1 - chance)).sqrt())
    return int(most_of(real["people"]) or 0)


def _are_alike(rest: list[str], shift: int) -> pl.Expr:
    """Whether half of the rest of a row is that of the row before, or of one so many places further on.

    The pairs of a change stand in a circle: `size` of them, each at its `place`.
    """
    place, size = pl.col("place"), pl.col("size")
    other = pl.col("row") - place + (place + pl.when(shift < size).then(shift).otherwise(0)) % size
    before = (exactly(f"{name}_before").gather(other) for name in rest)
    same = (exactly(name).eq_missing(one).cast(pl.Int32) for name, one in zip(rest, before, strict=True))
    return pl.sum_horizontal(pl.lit(0), *same) * 2 >= len(rest)


def _shorter(identifiers: pl.DataFrame) -> pl.DataFrame:
    """`text`, `rest`, `change`: each identifier without a beginning, an end, or one of its characters."""
    text, place, size = pl.col("text"), pl.col("place"), pl.col("text").str.len_chars()
    each = identifiers.select("text", place=pl.int_ranges(0, size)).explode("place").drop_nulls()
    less = [
        (text.str.slice(place), text.str.slice(0, place), pl.lit("start"), place > 0),
        (text.str.slice(0, place), text.str.slice(place), pl.lit("end"), place > 0),
        (
            text.str.slice(0, place) + text.str.slice(place + 1),
            text.str.slice(place, 1),
            place.cast(pl.String),
            (place > 0) & (place < size - 1),
        ),
    ]
    found = [
        each.filter(is_one).select("text", rest=rest, where=where, more=more.str.replace_all(r"\D", "x"))
        for rest, more, where, is_one in less
    ]
    where = pl.when((pl.col("more") == "x") & ~pl.col("where").is_in(["start", "end"])).then(pl.lit("within"))
    return pl.concat(found).select("text", "rest", change=where.otherwise("where") + " " + pl.col("more"))


def _forms(identifiers: pl.DataFrame) -> pl.Series:
    return identifier_forms(identifiers["text"]).unique()


def _with_one_less(identifiers: pl.DataFrame) -> pl.DataFrame:
    """`text`, `place`, `rest`: each identifier without the character at each of its places."""
    places = identifiers.with_columns(place=pl.int_ranges(0, pl.col("text").str.len_chars()))
    each = places.explode("place").drop_nulls()
    rest = pl.col("text").str.slice(0, pl.col("place")) + pl.col("text").str.slice(pl.col("place") + 1)
    return each.with_columns(rest=rest)
