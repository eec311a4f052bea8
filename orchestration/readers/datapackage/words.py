"""What is promised, in plain words, from the promise as data: the same for every principle."""

from __future__ import annotations

from collections.abc import Iterator

from anonymize.promise.promise import Promise

SEMANTICS = {
    "persistent": (
        "A person's value stays, as a chronic disease does: a person who is in several releases is expected"
        " to have the same value in all of them."
    ),
    "transient": (
        "A person's value comes and goes, as a quarter's diagnosis does: it may differ from one release to"
        " the next."
    ),
}
"""What `sensitive.semantics` means for readers."""


def promised_in_words(promise: Promise) -> list[str]:
    """What nobody can learn from the release, a sentence for each part of the promise."""
    return list(_sentences(promise))


def _sentences(promise: Promise) -> Iterator[str]:
    if promise.candidates is not None:
        yield (
            f"Each person keeps at least {promise.candidates} possible values, also for readers who have"
            " every release of the series and know everybody's quasi-identifiers."
        )
    if promise.largest_share is not None:
        yield (
            f"No value has more than {promise.largest_share:.3g} of the rows of a group, counterfeits"
            " included."
        )
    if promise.breach_probability is not None:
        yield (
            "Nobody is linked to a value, in all releases so far together, with a probability above"
            f" {promise.breach_probability:.3g}."
        )
    if promise.forgets_after is not None:
        yield (
            f"People who were absent from {promise.forgets_after} releases in a row are promised this anew"
            " when they return."
        )
    if promise.signatures is not None:
        often = {"unique": "once", "even": "equally often"}[promise.signatures]
        yield f"Each group has each of its values {often}."
    if promise.equivalence is not None:
        yield (
            f"No set of fewer than {promise.equivalence} people is known to have the same values as another"
            " set of as many."
        )
    if promise.linked_values is not None:
        yield (
            "Joined with every earlier release, each combination of the joined columns is linked to at least"
            f" {promise.linked_values} values of what is protected."
        )
    if promise.linkability is not None:
        yield (
            "Joined with every earlier release, no combination of the joined columns implies a protected"
            f" value with a confidence above {promise.linkability:.3g}."
        )
