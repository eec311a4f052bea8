"""What a contract's words mean, for readers of a release."""

from __future__ import annotations

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
