"""Which attack judges a release: its format says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anonymize.attack.release import ReleaseAttack, attack_release
from anonymize.attack.view import attack_view

ATTACKS: Mapping[str, Callable[..., ReleaseAttack]] = {"groups": attack_release, "join": attack_view}
"""Every attack on a release by the name that formats give it; all are called alike."""


def attack(schema: Any, release_format: Any, *material: Any, **known: Any) -> ReleaseAttack:
    """Attack a release by the attack that its format names; arguments as those of `attack_release`."""
    return ATTACKS[release_format.attack](schema, release_format, *material, **known)
