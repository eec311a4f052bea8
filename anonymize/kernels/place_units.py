"""Find a bucket for one unit after another: the rows of a person that have one value stay together."""

from republish.anonymize.arrays import Ints, Words
from republish.anonymize.kernels.compiled import compiled, int64, uint64


@compiled()
def place_units(
    order: Ints,
    queue: Ints,
    value: Ints,
    rows: Ints,
    person: Ints,
    forbidden: Words,
    spare: Ints,
    signature: Words,
    beyond_m: Ints,
    first: Ints,
    bucket: Ints,
    wider: Ints,
    open_places: Ints,
    found: Ints,
    beyond: bool,
) -> None:
    """Place units that have no bucket yet; `forbidden`, `spare`, `open_places` and `found` follow.

    A unit comes to the bucket of its queue that has the most open places, if these are enough for all of its
    rows, and if the bucket's signature has nothing that is forbidden to its person, but for the unit's own
    value. From then on the whole signature is forbidden to the person. It stands in a queue of the narrowest
    region first, then in that of the next wider one. Buckets that leave a place for each other unit of the
    person, in the same region, come before those of narrower regions that leave fewer.

    Parameters
    ----------
    order
        int64[n]: the units, in the order in which they are placed.
    queue
        int64[L, U]: of each unit, in regions of L widths, the narrowest first.
    value, rows, person
        int64[U]: of each unit; those of a person follow one another.
    forbidden
        uint64[H, W]: of each person, the values that no further signature may have, a bit each.
    spare
        int64[H]: how many values more than m each person's signatures from now on may have, all together.
    signature
        uint64[B, W]: the values of each bucket's signature.
    beyond_m
        int64[B]: how many values more than m it has.
    first
        int64[Q + 1]: where each queue begins in the following three.
    bucket, open_places
        int64[E]: buckets of a queue, and how many rows with the unit's value each still takes.
    wider
        int64[E]: the entry of the same bucket and value in the region around, -1 if there is none. Places
        that are taken in a region are taken in those around it, too.
    found
        int64[U]: the bucket of each unit, -1 if it has none.
    beyond
        Whether a bucket may get more rows than it has open places.
    """
    for at in range(len(order)):
        unit = order[at]
        if found[unit] >= 0:
            continue
        needed = int64(-(1 << 62)) if beyond else rows[unit]
        begin, end = _units_of(unit, person)
        number = _waiting(begin, end, found) - 1
        best, others = -1, int64(-1)
        for width in range(len(queue)):
            if others == number:
                break
            most = int64(-(1 << 62)) if best < 0 else int64(1 << 62)
            for entry in range(first[queue[width, unit]], first[queue[width, unit] + 1]):
                left = _left(entry, wider, open_places)
                if left < needed or beyond_m[bucket[entry]] > spare[person[unit]]:
                    continue
                if _meets(forbidden[person[unit]], signature[bucket[entry]], value[unit]):
                    continue
                placed = int64(0)
                if number > 0:
                    placed = _others_that_fit(
                        unit, begin, end, bucket[entry], queue[width], value, rows, person, forbidden, spare,
                        signature, beyond_m, first, bucket, wider, open_places, found,
                    )  # fmt: skip
                if placed > others or (placed == others and left > most):
                    best, most, others = entry, left, placed
        if best < 0:
            continue
        found[unit] = bucket[best]
        spare[person[unit]] -= beyond_m[bucket[best]]
        for word in range(signature.shape[1]):
            forbidden[person[unit], word] |= signature[bucket[best], word]
        while best >= 0:
            open_places[best] -= rows[unit]
            best = wider[best]


@compiled(inline="always")
def _left(entry: int, wider: Ints, open_places: Ints) -> int:
    """The open places of a bucket in a region, no more than there are in any region around it."""
    left: int = open_places[entry]
    while wider[entry] >= 0:
        entry = wider[entry]
        left = min(left, open_places[entry])
    return left


@compiled(inline="always")
def _units_of(unit: int, person: Ints) -> tuple[int, int]:
    """Where the units of a unit's person begin and end."""
    begin, end = unit, unit + 1
    while begin > 0 and person[begin - 1] == person[unit]:
        begin -= 1
    while end < len(person) and person[end] == person[unit]:
        end += 1
    return begin, end


@compiled(inline="always")
def _waiting(begin: int, end: int, found: Ints) -> int:
    """Count the units that have no bucket."""
    number = int64(0)
    for unit in range(begin, end):
        number += found[unit] < 0
    return number


@compiled()
def _others_that_fit(
    unit: int,
    begin: int,
    end: int,
    taken: int,
    queue: Ints,
    value: Ints,
    rows: Ints,
    person: Ints,
    forbidden: Words,
    spare: Ints,
    signature: Words,
    beyond_m: Ints,
    first: Ints,
    bucket: Ints,
    wider: Ints,
    open_places: Ints,
    found: Ints,
) -> int:
    """Count the other units of a unit's person that find a bucket, each by itself, if this one is taken."""
    fit = int64(0)
    for other in range(begin, end):
        if other != unit and found[other] < 0:
            for entry in range(first[queue[other]], first[queue[other] + 1]):
                if _left(entry, wider, open_places) < rows[other]:
                    continue
                if beyond_m[taken] + beyond_m[bucket[entry]] > spare[person[unit]]:
                    continue
                its = signature[bucket[entry]]
                if not _share(its, signature[taken]) and not _meets(
                    forbidden[person[unit]], its, value[other]
                ):
                    fit += 1
                    break
    return fit


@compiled(inline="always")
def _share(one: Words, other: Words) -> bool:
    """Whether two signatures have a value in common."""
    for word in range(len(one)):  # noqa: SIM110 - numba compiles loops
        if one[word] & other[word] != 0:
            return True
    return False


@compiled(inline="always")
def _meets(forbidden: Words, signature: Words, own: int) -> bool:
    """Whether a signature has a forbidden value other than the unit's own."""
    for word in range(len(signature)):
        both = forbidden[word] & signature[word]
        if word == own // 64:
            both &= ~(uint64(1) << uint64(own % 64))
        if both != 0:
            return True
    return False
