"""Find a bucket for one unit after another: the rows of a person that have one value stay together."""

from anonymize.arrays import Ints, Words
from anonymize.kernels.compiled import compiled, int64, uint64


@compiled()
def place_units(
    order: Ints,
    queue: Ints,
    value: Ints,
    rows: Ints,
    person: Ints,
    forbidden: Words,
    signature: Words,
    first: Ints,
    bucket: Ints,
    open_places: Ints,
    found: Ints,
    beyond: bool,
) -> None:
    """Place units that have no bucket yet; `forbidden`, `open_places` and `found` follow.

    A unit comes to the bucket of its queue that has the most open places, if these are enough for all of its
    rows, and if the bucket's signature has nothing that is forbidden to its person, but for the unit's own
    value. From then on the whole signature is forbidden to the person.

    Parameters
    ----------
    order
        int64[n]: the units, in the order in which they are placed.
    queue, value, rows, person
        int64[U]: of each unit.
    forbidden
        uint64[H, W]: of each person, the values that no further signature may have, a bit each.
    signature
        uint64[B, W]: the values of each bucket's signature.
    first
        int64[Q + 1]: where each queue begins in the following two.
    bucket, open_places
        int64[E]: buckets of a queue, and how many rows with the unit's value each still takes.
    found
        int64[U]: the bucket of each unit, -1 if it has none.
    beyond
        Whether a bucket may get more rows than it has open places.
    """
    for at in range(len(order)):
        unit = order[at]
        if found[unit] >= 0:
            continue
        own = value[unit] // 64
        bit = uint64(1) << uint64(value[unit] % 64)
        best = -1
        most = int64(0)
        for entry in range(first[queue[unit]], first[queue[unit] + 1]):
            left = open_places[entry]
            if (best >= 0 and left <= most) or (not beyond and left < rows[unit]):
                continue
            if _meets(forbidden[person[unit]], signature[bucket[entry]], own, bit):
                continue
            best = entry
            most = left
        if best < 0:
            continue
        found[unit] = bucket[best]
        open_places[best] -= rows[unit]
        for word in range(signature.shape[1]):
            forbidden[person[unit], word] |= signature[bucket[best], word]


@compiled(inline="always")
def _meets(forbidden: Words, signature: Words, own: int, bit: int) -> bool:
    """Whether a signature has a forbidden value other than the unit's own, whose word and bit are given."""
    for word in range(len(signature)):
        both = forbidden[word] & signature[word]
        if word == own:
            both &= ~bit
        if both != 0:
            return True
    return False
