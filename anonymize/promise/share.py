"""The largest share: how frequent a value may be in a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymize.attack.finding import Found
from anonymize.late import on_first_call
from anonymize.promise.check import Check
from anonymize.promise.part import Part, Promise, Scope, required
from anonymize.text import Text

_attack: Callable[..., Found] = on_first_call("anonymize.attack.shares", "attack_shares")


@dataclass(frozen=True)
class LargestShare(Part):
    """No value has a larger share of the tuples of any group."""

    largest_share: float

    scopes: ClassVar[Mapping[str, Scope]] = {
        "": Scope(
            "share of a value",
            "No value is carried by a larger share of a group than promised.",
            "at most",
        )
    }

    def __post_init__(self) -> None:
        required("largest_share", self.largest_share, least=0, most=1)

    def sentences(self) -> Iterator[str]:
        """What is promised, for readers of a release."""
        yield Text(
            "No value has more than {most:.3g} of the rows of a group, counterfeits included.",
            most=self.largest_share,
        )

    @property
    def likeliest(self) -> float:
        """The largest probability of any person's value that it allows."""
        return self.largest_share

    @property
    def check(self) -> Check:
        """What Great Expectations judges of the table that the attack counts."""
        return Check(
            "largest_share",
            "No value is that of a larger share of a group than its people were promised.",
            "{rows:,} groups: the largest share of a value is {share_max:.3g}, the smallest one that is"
            " promised to a group {promised_min:.3g}; {too_large_sum:,} groups break it.",
        )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> Found:
        """Attack a release."""
        return _attack(seen, [part and part.largest_share for part in cls.given(promises)])
