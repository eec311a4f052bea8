"""The GDA algorithm as the paper prints it (Table 7), in plain Python: it is not what a release uses."""

import numpy as np


def gda_of_table_7(color, ranks, weighted_rank, l):
    """The group of each identifier; ties are decided by the secret order `ranks`."""
    lines = {
        value: sorted(np.flatnonzero(color == value), key=lambda p: (weighted_rank[p], ranks[p]))
        for value in np.unique(color).tolist()
    }
    group = np.full(len(color), -1)
    groups = 0
    while len(lines) >= l:
        largest = max(lines, key=lambda value: (len(lines[value]), -value))
        while lines.get(largest) and len(lines) >= l:
            person = lines[largest].pop(0)
            nearest = sorted(
                (value for value in lines if value != largest),
                key=lambda value: (
                    abs(weighted_rank[lines[value][0]] - weighted_rank[person]),
                    ranks[lines[value][0]],
                ),
            )[: l - 1]
            members = [person, *(lines[value].pop(0) for value in nearest)]
            group[members] = groups
            groups += 1
            lines = {value: line for value, line in lines.items() if line}
    for value, line in sorted(lines.items(), key=lambda item: -len(item[1])):
        for person in line:
            compatible = [g for g in range(groups) if value not in color[group == g]]
            # With fewer compatible groups than leftovers, the printed algorithm has no answer: join any.
            group[person] = min(
                compatible or range(groups),
                key=lambda g: (np.abs(weighted_rank[group == g] - weighted_rank[person]).mean(), g),
            )
    return group
