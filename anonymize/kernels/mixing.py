"""The mixing function of `splitmix` for kernels; `splitmix` needs no numba, which takes long to import."""

from collections.abc import Callable
from typing import Any, cast

from numba import njit

from republish.anonymize.kernels.splitmix import mixed

mixed_number = cast(Callable[[Any], int], njit(mixed))
"""`mixed` of one number, for kernels, which have it compiled into themselves (see `stable_partition`)."""
