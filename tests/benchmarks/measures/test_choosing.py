"""The other ways to publish are given no more and no less than they promise."""

import numpy as np
import pytest

from benchmarks.measures.choosing import DELTA, RELEASES, noise, parts


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("counted_in", [1, 21])
def test_noise_is_the_least_that_differential_privacy_takes(epsilon, counted_in):
    """By integration: how much more likely than e^ε an answer is with a person than without, at most δ."""

    def beyond(spread):
        apart = np.sqrt(RELEASES * counted_in) / spread  # of the two means, in standard deviations
        at = np.linspace(-12, 12 + apart, 400_001)
        without, present = (np.exp(-((at - mean) ** 2) / 2) / np.sqrt(2 * np.pi) for mean in (0, apart))
        return (np.maximum(0, present - np.exp(epsilon) * without) * (at[1] - at[0])).sum()

    spread = noise(epsilon, counted_in)
    assert beyond(spread) == pytest.approx(DELTA, rel=1e-2)
    assert beyond(0.99 * spread) > DELTA


def test_a_domain_is_in_parts_that_leave_nothing_out():
    assert parts(17, 90)[[0, -1]].tolist() == [17, 91]
    assert len(parts(17, 90)) == 17
    assert parts(0, 1).tolist() == [0, 1, 2]
