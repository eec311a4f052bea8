"""`republish demo`."""

from __future__ import annotations

import shlex

from republish.orchestration.cli.options import Debug, HomePath
from republish.orchestration.cli.terminal import out
from republish.orchestration.cli.work import Work


def demo(home: HomePath = None, debug: Debug = False) -> None:
    """Make up a hospital and release it six times.

    20,000 patients come and go over six quarters; they are released with m = 4. Five lines at the end say
    what an attacker learns from all releases, with republish and without it.
    """
    from republish.orchestration.cli.releasing import make_due_releases
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.demo.attack import what_an_attacker_learns
    from republish.orchestration.demo.hospital import make_demo
    from republish.orchestration.series.series import Series
    from republish.orchestration.storage.home import Home, only_one

    place = Home.at(home)
    with only_one(place.path, "the demo", name=".demo-lock"):
        contract = make_demo(place.path)
    file = load_contract(contract)
    made = make_due_releases(file, None, place.path)
    with Work("what an attacker learns from all releases"):
        learned = what_an_attacker_learns(Series(file, place))
    if learned:
        out.print("\n".join(["", *learned]))
    option = f" --home {shlex.quote(str(home))}" if home else ""
    out.print(f"\nPublished, for researchers:  {made.folder}")
    out.print(f"The contract, to learn from: {contract}")
    out.print(f"Lineage, checks and plots:   republish ui{option}")
