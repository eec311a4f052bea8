"""Functions of modules that are imported when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_first_call(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that is not imported before the function is called.

    Every contract is read with all principles at hand, and most commands compute with none of them, or with
    one. What computes imports numba, scipy and networkx, which takes longer than such a command. The module's
    name is written out in full, so that `tests/test_layers.py` sees it as an import.

    Examples
    --------
    >>> square_root = on_first_call("math", "sqrt")
    >>> square_root(9.0)
    3.0
    """

    def called(*arguments: Any, **named: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **named)

    return called
