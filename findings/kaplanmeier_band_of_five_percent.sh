#!/usr/bin/env bash
# kaplanmeier 0.2.0: the band around a survival curve for an alpha of .05 is an interval of 5 %, and not of 95 %.
#
# Believed: plot(..., cii_alpha=0.05), its default, draws the interval of 95 % around each curve, as lifelines does, on
# which it is built.
# Seen: lifelines is given 1 - .05 as its alpha, the share outside, and the band is of 5 %: where five of fifteen people
# have died, it goes from .659 to .674, and that of 95 % from .375 to .846. An alpha of .95 draws the usual one. The
# p-value in the title is right.
# What follows: curves of groups look far apart that aren't. Give cii_alpha=0.95.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check kaplanmeier==0.2.0 lifelines==0.30.3 \
    pandas==2.3.3 numpy==2.3.5 scipy==1.17.1 matplotlib==3.10.8 seaborn==0.13.2
cd "$work"
MPLBACKEND=Agg "$work/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import kaplanmeier
import numpy as np
from lifelines import KaplanMeierFitter

months = np.arange(1.0, 16).repeat(2)
died = np.ones(30, dtype=int)
group = np.tile([0, 1], 15)
fitted = kaplanmeier.fit(months, died, group)


def drawn(**options):
    """Lowest and highest point of the first group's band from month 5 to 6."""
    _, axes = kaplanmeier.plot(fitted, visible=False, **options)
    corners = axes.collections[0].get_paths()[0].vertices.round(3).tolist()
    heights = ({height for month, height in corners if month == end} for end in (5, 6))
    return tuple(sorted(set.intersection(*heights)))


def usual(alpha):
    curve = KaplanMeierFitter().fit(months[group == 0], died[group == 0], alpha=alpha)
    return tuple(round(float(each), 3) for each in curve.confidence_interval_.loc[5.0])


default, reverse = drawn(), drawn(cii_alpha=0.95)
print("kaplanmeier", version("kaplanmeier"), "a third of fifteen died, band:", default, "with cii_alpha=.95:", reverse)
print("interval of 95 %:", usual(0.05), "of 5 %:", usual(0.95))
assert usual(0.05) == (0.375, 0.846) and usual(0.95) == (0.659, 0.674)
assert default == usual(0.95) and reverse == usual(0.05), "the behaviour changed"
PYTHON
