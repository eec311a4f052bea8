"""The command line of republish."""
# ruff: noqa: ARG001, PLC0415 - --debug is read from the words; nobody waits for Dagster to read a help text

from __future__ import annotations

import gc
import os
import shlex
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from anonymize.errors import RepublishError
from orchestration.audit.command_line import audit_command

app = typer.Typer(
    name="republish",
    help="Publish a table of people again and again, so that nobody who collects every release learns"
    " a person's sensitive value.",
    epilog="Exit codes: 0 done, 2 the input or the contract is wrong, 3 refused for privacy, 1 anything"
    " else.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text, whether it is read or piped
    context_settings={"help_option_names": ["-h", "--help"]},
)
# Without markup: `accept: {2024-04-01: [m]}` in a message is text, and no style.
out, err = (
    Console(highlight=False, markup=False, soft_wrap=True),
    Console(stderr=True, highlight=False, markup=False),
)

ContractPath = Annotated[
    Path, typer.Argument(metavar="CONTRACT", help="The YAML file that declares the product.")
]
HomePath = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Your own folder: key, history, private and published releases."
        " Default: REPUBLISH_HOME, or ./var.",
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@app.callback()
def _republish() -> None:
    from orchestration.storage.home import only_for_the_owner

    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    only_for_the_owner()


@app.command()
def release(
    contract: ContractPath,
    through: Annotated[
        str | None,
        typer.Option("--through", metavar="RELEASE", help="Stop after this release, e.g. 2024-04-01."),
    ] = None,
    home: HomePath = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 2 if a due release has to wait.")
    ] = False,
    without_upstream: Annotated[
        bool,
        typer.Option(
            "--without-upstream",
            help="Don't wait for the assets that the contract names as upstream: you know that the snapshots"
            " are complete.",
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Make every release that is due and not published yet.

    In order, one line each. Releases that are published are verified and left as they are. The first
    release that can't be made ends the command; nothing of it is published. Killed at any moment and
    run again, it goes on where it was, and publishes what it would have published.

    A due release whose snapshot has not arrived waits. No release can be left out: the next one is built on
    it. If a snapshot never comes, deliver the one before it once more, under the date that is missing.

    If the contract names upstream assets, a release waits until the Dagster in this home knows that each of
    them is materialized for it. --without-upstream ends this waiting.
    """
    from orchestration.contracts.contract_file import load_contract

    _, waits = _release(load_contract(contract), through, home, without_upstream=without_upstream)
    if waits and strict:
        raise typer.Exit(2)


@app.command()
def validate(contract: ContractPath, home: HomePath = None, debug: Debug = False) -> None:
    """Check a contract and its snapshots; changes nothing.

    The snapshots are those that have arrived, of releases that are not published yet. Of the next release it
    says whether it could be made: how many people would be held back, and how many counterfeits it takes.
    """
    from orchestration.cli.examine import examine
    from orchestration.contracts.contract_file import load_contract
    from orchestration.series.series import Series
    from orchestration.storage.home import Home

    file = load_contract(contract)
    declared = file.contract
    out.print(f"{contract}: the contract of {declared.product}/{declared.series} is well formed")
    sensitive = f" sensitive {declared.sensitive.name}," if declared.sensitive is not None else ""
    attributes = len(list(declared.attributes()))
    out.print(f"  {attributes} {declared.ROLE}s,{sensitive} {declared.principle.name}")
    series = Series(file, Home.named(home))
    if not examine(series, out.print):
        raise typer.Exit(2)


@app.command()
def demo(home: HomePath = None, debug: Debug = False) -> None:
    """Make up a hospital and release it six times.

    20,000 patients come and go over six quarters; they are released with m = 4. Five lines at the end say
    what an attacker learns from all releases, with republish and without it.
    """
    from orchestration.contracts.contract_file import load_contract
    from orchestration.demo.comparison import compare
    from orchestration.demo.hospital import make_demo
    from orchestration.series.series import Series
    from orchestration.storage.home import Home, only_one

    place = Home.at(home)
    with only_one(place.path, "the demo", name=".demo-lock"):
        contract = make_demo(place.path)
    file = load_contract(contract)
    snapshots = sorted((contract.parent / file.contract.source.path).parent.glob("*.parquet"))
    folder, _ = _release(file, snapshots[-1].stem, home)
    with _status("what an attacker learns from all releases"):
        learned = compare(Series(file, place))
    if learned:
        out.print("\n".join(["", *learned]))
    option = f" --home {shlex.quote(str(home))}" if home else ""
    out.print(f"\nPublished, for researchers:  {folder}")
    out.print(f"The contract, to learn from: {contract}")
    out.print(f"Lineage, checks and plots:   republish ui{option}")


@app.command()
def ui(
    home: HomePath = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port on 127.0.0.1.")] = 3000,
    debug: Debug = False,
) -> None:
    """Open Dagster in the browser: lineage, checks, plots.

    Also schedules and backfills. It listens on 127.0.0.1 only, and ends with Ctrl-C.
    """
    from orchestration.dagster.releasing import prepare_dagster_home
    from orchestration.ports import refuse_taken
    from orchestration.shipped import shipped
    from orchestration.storage.home import Home

    place = Home.at(home)
    refuse_taken(port)
    prepare_dagster_home(place)
    out.print(f"Dagster on http://127.0.0.1:{port}, of {place.path}. Ctrl-C ends it.")
    # Dagster advises to use another command of its own, which is nobody's concern here.
    quiet = ["-W", "ignore:Function `dev_command` is superseded"]
    command = ["dagster", "dev", "--workspace", str(shipped("workspace.yaml")), "--host", "127.0.0.1"]
    os.chdir(place.dagster)
    os.execv(sys.executable, [sys.executable, *quiet, "-m", *command, "--port", str(port)])  # noqa: S606 - our own


@app.command()
def verify(
    published: Annotated[
        Path,
        typer.Argument(
            metavar="PUBLISHED",
            help="A published release, published/hospital/v1/2024-01-01 say, or its series,"
            " published/hospital/v1.",
        ),
    ],
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A signed audit of it: the folder that republish audit --sign wrote."
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option("--public-key", metavar="KEY", help="The auditor's Ed25519 public key (PEM)."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Check that published folders are as they were published.

    Every file is compared with its manifest, and the manifests with one another. The private folder is
    not needed: whoever receives a release can do it. With --report and --public-key, a signed audit is
    checked too: its signature, its files, and that these are the releases that were audited.
    """
    if (report is None) != (public_key is None):
        from anonymize.errors import SignatureError

        raise SignatureError("--report and --public-key belong together: give both, or neither")
    if report is None or _has_manifests(published):
        _verify_folder(published)
    if report is not None:
        _verify_signature(published, report, public_key)


app.command("audit")(audit_command)


def _has_manifests(published: Path) -> bool:
    """Whether a folder is for its manifests to vouch for; another tool's files have none."""
    return published.is_dir() and any(published.glob("**/manifest.json"))


def _verify_folder(published: Path) -> None:
    from orchestration.storage.manifest import is_release, verify_release, verify_series

    one = is_release(published)
    manifests = [verify_release(published)] if one else verify_series(published)
    for stated in manifests:
        out.print(f"{stated['release']}  {len(stated['files'])} files as in the manifest")
    if not one:
        out.print(f"{len(manifests)} releases, an unbroken chain")


def _verify_signature(published: Path, report: Path, public_key: Path) -> None:
    from orchestration.audit.signature import load_public_key, verify_releases, verify_report

    statement = verify_report(report, load_public_key(public_key))
    releases = verify_releases(published, statement)
    count = "1 release" if len(releases) == 1 else f"{len(releases)} releases"
    out.print(f"{', '.join(statement['found'])}: as signed under the key with SHA-256 {statement['key']}")
    out.print(f"{count} as audited on {statement['date']} by {statement['auditor'] or 'nobody named'}")
    out.print(f"The audit's verdict: {statement['verdict']}")


@app.command()
def estimate(
    published: Annotated[
        Path,
        typer.Argument(metavar="PUBLISHED", help="A published release, or a series of releases."),
    ],
    where: Annotated[
        str,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Who is counted, in SQL: \"age between 30 and 40 and sex = 'F'\". Default: everybody.",
        ),
    ] = "true",
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="Count separately for each of its values.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Estimate how many people meet a condition, with an error bar.

    From the published folder alone; estimate.sql in it does the same in DuckDB. Low and high are made to have
    the truth between them in 95 of 100 cases; on real tables it was 80 to 97 of 100. With --by, shares are of
    all who meet the condition, else of everybody.
    """
    from orchestration.readers.estimate.command import estimate as estimated

    table = estimated(published, where, by)
    table = table.rename({"split": by}) if by else table.drop("split")
    shown = Table(*(column.replace("_", " ") for column in table.columns), box=None, pad_edge=False)
    for row in table.iter_rows():
        shown.add_row(*(f"{entry:,}" if isinstance(entry, float) else str(entry) for entry in row))
    out.print(shown if table.height else "no group has anybody who may meet the condition")


def _release(
    file, through: str | None, home: Path | None, *, without_upstream: bool = False
) -> tuple[Path, bool]:
    """Make the due releases of a contract; returns their folder, and whether one of them has to wait."""
    from orchestration.cli.releasing import releases_to_make, releasing
    from orchestration.expectations import start_judge
    from orchestration.series.series import Series
    from orchestration.storage.home import Home

    series = Series(file, Home.at(home))
    made, waits = 0, False
    with releasing(series) as dagster:
        waiting = releases_to_make(series, through)
        for number, release in enumerate(waiting, start=1):
            why = _waits_for(series, release, dagster, without_upstream=without_upstream)
            if waits := why is not None:
                out.print(f"{release}  waits for {why}")
                break
            start_judge()  # it gets ready while Dagster does
            instance = dagster()
            from orchestration.dagster.releasing import make_release

            with _status(f"{series.name} {release}, {number} of {len(waiting)}"):
                started = time.perf_counter()
                released = make_release(series, release, instance)
            made += 1
            out.print(_line(released, time.perf_counter() - started))
    if not made and not waits:
        out.print(f"{series.name}: every release that is due is published, and is as it was published")
    return series.published_folder, waits


def _waits_for(series, release: str, dagster, *, without_upstream: bool) -> str | None:
    """What a due release waits for; None if it can be made. Dagster is asked only about what is upstream."""
    from orchestration.chain.arrival import has_arrived
    from orchestration.snapshots.sources import place

    if not has_arrived(series, release):
        return f"its snapshot: {place(series.file, release)}"
    if without_upstream or not series.contract.upstream:
        return None
    from orchestration.dagster.upstream import missing_upstream

    key = missing_upstream(series, release, dagster())
    if key is None:
        return None
    return (
        f"{key.to_user_string()}, which is not materialized for it in the Dagster of {series.home.dagster}."
        " If you know that the snapshot is complete, release it with --without-upstream"
    )


def _line(released, seconds: float) -> str:
    spent = ", ".join(f"{part} {took:.1f}" for part, took in released.seconds.items())
    held_back = f"  {released.held_back:,} held back" if released.held_back else ""
    return (
        f"{released.release}  published  {released.people:>9,} people  {released.groups:>7,} groups"
        f"  {released.counterfeits:>5,} counterfeits{held_back}  {seconds:5.1f} s ({spent})"
    )


def _status(text: str):
    return err.status(text) if err.is_terminal else nullcontext()


def main() -> None:
    """Run the command line; errors are one line on stderr, and a traceback with --debug."""
    try:
        app(prog_name="republish")
    except RepublishError as error:
        _fail(error, str(error), error.exit_code)
    except BrokenPipeError:  # whoever read the output, `head` say, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as error:
        _fail(error, ": ".join(str(part) for part in (error.filename, error.strerror) if part), 1)
    except ModuleNotFoundError as error:
        whole = "install republish with all it depends on: the small install is for audit and verify alone"
        _fail(error, f"{error.name} is not installed: {whole}", 1)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as error:  # noqa: BLE001 - the last resort: one line, exit code 1
        _fail(error, f"unexpected {type(error).__name__}; run again with --debug to see where", 1)


def _fail(error: Exception, message: str, code: int) -> None:
    if "--debug" in sys.argv:
        err.print_exception() if err.is_terminal else sys.excepthook(type(error), error, error.__traceback__)
    sys.stderr.write(f"republish: {message}\n")
    raise SystemExit(code) from None


def run() -> None:
    """Run the command line as a process of its own, which ends as soon as it is done.

    To look all that is imported over for garbage, and take it apart in the end, is a fifth of its time.
    """
    gc.set_threshold(100_000, 50, 100)
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 1
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    run()
