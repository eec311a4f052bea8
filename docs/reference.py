"""The pages of docs/reference that are made from the code: keys of contracts, commands, functions.

python -m docs.reference     writes them; a test fails where they are not what this makes
"""

from __future__ import annotations

import datetime as dt
import inspect
import re
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
import yaml
from pydantic.fields import FieldInfo

import republish
from republish.anonymize.contract import Contract, ViewContract
from republish.anonymize.contract.attributes import (
    CategoryAttribute,
    CategoryColumn,
    DateAttribute,
    NumberAttribute,
)
from republish.anonymize.contract.expect import Expect
from republish.anonymize.contract.previous import PreviousRelease
from republish.anonymize.contract.product import Acceptance, Catalogue, Governance, Product
from republish.anonymize.contract.retention import Retention
from republish.anonymize.contract.scalars import Declaration
from republish.anonymize.contract.sensitive import Sensitive
from republish.anonymize.contract.source import Dialect, FileSource, QuerySource, Releases, TableSource
from republish.anonymize.principles import PRINCIPLES, parse_contract
from republish.orchestration.cli.app import app
from republish.orchestration.contracts.json_schema import keys_of

FOLDER = Path(__file__).parent / "reference"
MADE = "<!-- Made from the code by `python -m docs.reference`. -->"
TYPES: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    dt.date: "date",
    Any: "any",
}
ABOUT_PYTHON = """`import republish` gives what is on this page, and [it stays](stable.md); whatever else can
be imported may change at any time. `help(republish.estimate)` explains parameters, what is returned, and
what is refused (always a `RepublishError`). [Releases from Python](../how-to/from_python.md) shows how it
goes together."""
PARTS: dict[str, tuple[str, tuple[type[Declaration], ...]]] = {
    "source": (
        "A file, a query or a table ([how](../how-to/read_snapshots.md)).",
        (FileSource, QuerySource, TableSource),
    ),
    "releases": ("Dates and times are UTC, and there is at most one release a day.", (Releases,)),
    "quasi_identifiers": (
        "A list. `kind` is `number`, `date` or `category`. See [intervals](../how-to/intervals.md).",
        (NumberAttribute, DateAttribute, CategoryAttribute),
    ),
    "sensitive": ("A column, or a list of them ([how](../how-to/sensitive_columns.md)).", (Sensitive,)),
    "columns": (
        "A list, of views alone. A column has the keys of a quasi-identifier but `min_width`, and `keep`.",
        (CategoryColumn,),
    ),
    "expect": ("See [what is ordinary](../how-to/odd_snapshots.md).", (Expect,)),
    "accept": ("By the release's date, a list of names, or a mapping.", (Acceptance,)),
    "governance": (
        "For [reports](../how-to/audit.md#the-report) and the [record of processing](../how-to/record.md).",
        (Governance,),
    ),
    "catalogue": ("For [catalogues of data](../how-to/catalogue.md).", (Catalogue,)),
    "retention": ("See [forgetting by rule](../how-to/rights.md#forgetting-by-rule).", (Retention,)),
}
"""Of each key of a contract that has keys of its own, an introduction and the classes that declare them."""
ABOUT_CONTRACTS = """\
A contract is one YAML file that says what is published of one table, when, and under which promise. Scalars
are those of YAML 1.2: `no` is a text, not false; aliases (`*name`) are not accepted. A column may have any
name but `release` and `group_id`. A key without a default is required. [The
tutorial](../tutorial/first_series.md#3-the-contract) has a complete contract,
[contracts.yaml](contracts.yaml) all examples, and [principles.md](principles.md) the keys of `principle`."""
ABOUT_PRINCIPLES = """\
[People who do not fit](../how-to/people_who_do_not_fit.md) says which `on_ineligible`, `on_value_change` and
`people_per_group` to choose, and [Choose a promise](../how-to/choose_a_promise.md) which number. The keys
that `streamliner` shares with `m_invariance` are for its releases after the first (`then`)."""
OF_PREVIOUS = """\
Of `sequential`: a list of releases of other products about the same people. It also has the keys by which a
[source](contract.md#source) says how a file is written."""
AS_ELSEWHERE = "For the releases after the first, as m_invariance has it."
"""What a key says that has no row of its own."""
ABOUT_COMMANDS = """\
`verify`, `estimate`, `associate`, `copies` and `audit` are for everybody who has published folders, and the
others for a publisher. `republish COMMAND --help` explains every argument and option."""
OPAQUE = "State"
"""A class whose fields are for republish alone."""
SECTION = re.compile(r"^(?=\w+\n-{3,}$)", re.MULTILINE)
"""Where a section of a docstring begins: its parameters, what it returns. `help()` has these."""
CHOICES = re.compile("(`[^`]+`(, )?)+")
"""A type that names all its values, which needs no example."""
OFTEN = 2
"""An option that so many commands have is explained once."""


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text)


def pages() -> dict[str, str]:
    """The text of each page, by its name."""
    examples = declared_examples()
    return {
        "contract.md": contract_page(examples),
        "principles.md": principles_page(examples),
        "commands.md": commands_page(),
        "python.md": python_page(),
    }


def python_page() -> str:
    """The page of what `import republish` gives."""
    rows = []
    for name in republish.__all__:
        one = getattr(republish, name)
        rows.append((f"`{name}{_signature(one)}`", _said(one)))
        if inspect.isclass(one) and one.__module__.startswith("republish.orchestration.library"):
            rows += [(f"`{name}.{field}`", cell(said)) for field, said in _attributes(one) if name != OPAQUE]
            methods = {key: getattr(one, key) for key in vars(one) if key[0] != "_"}
            rows += [
                (f"`{name}.{key}{_signature(method)}`", _said(method))
                for key, method in methods.items()
                if callable(method)
            ]
    lines = ["# From Python", MADE, ABOUT_PYTHON, table(("name", "what it is or does"), rows)]
    return "\n\n".join(lines) + "\n"


def _said(one: Any) -> str:
    """What a docstring says before its sections, but for what is raised."""
    parts = SECTION.split(inspect.getdoc(one) or "")[0].split("\n\n")
    return cell("\n".join(part for part in parts if not part.startswith("Raises")))


def _signature(one: Any) -> str:
    """The parameters of a function, without their types; a class has none."""
    if inspect.isclass(one):
        return ""
    signature = inspect.signature(one)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    return str(inspect.Signature(bare))


def _attributes(documented: type) -> Iterator[tuple[str, str]]:
    """The fields and properties of a class that say what they are."""
    yield from ((name, one_line(said)) for name, said in keys_of(documented).items())
    for name, member in vars(documented).items():
        if isinstance(member, property | cached_property):
            yield name, one_line(inspect.getdoc(member))


def contract_page(examples: Mapping[tuple[type, str], Any]) -> str:
    """The page of a contract's keys."""
    fields = Contract.model_fields | ViewContract.model_fields
    rows: list[tuple[str, ...]] = []
    for name in Product.__annotations__ | fields:
        shape = ViewContract if name in ViewContract.model_fields else Contract
        elsewhere = name in PARTS or name == "principle"
        example = "below" if elsewhere else examples[Product, name]
        rows.append((*row(name, fields[name], example), of_principles(name), words(shape, name)))
    headings = ("key", "type", "default", "example", "principles, if not all", "meaning")
    lines = ["# The contract", MADE, ABOUT_CONTRACTS, table(headings, rows)]
    said: set[tuple[str, str]] = set()
    for key, (about, classes) in PARTS.items():
        here = [
            (declared, name, field)
            for declared, name, field in apart(classes)
            if (name == "keep") == (key == "columns") and (name != "kind" or key == "sensitive")
        ]
        again = [f"`{name}`" for declared, name, _ in here if (name, words(declared, name)) in said]
        rows = [
            (*row(name, field, examples[declared, name]), words(declared, name))
            for declared, name, field in here
            if (name, words(declared, name)) not in said
        ]
        said |= {(name, words(declared, name)) for declared, name, _ in here}
        introduced = f"{about} As above: {', '.join(again)}." if again else about
        lines += [f"## {key}", introduced, table(("key", "type", "default", "example", "meaning"), rows)]
    return "\n\n".join(lines) + "\n"


def apart(classes: Iterable[type[Declaration]]) -> list[tuple[type[Declaration], str, FieldInfo]]:
    """Each key of some classes once, or as often as they say different things of it."""
    said: dict[tuple[str, str], tuple[type[Declaration], str, FieldInfo]] = {}
    for declared in classes:
        for name, field in declared.model_fields.items():
            said.setdefault((name, words(declared, name)), (declared, name, field))
    return sorted(said.values(), key=lambda one: list(dict.fromkeys(name for name, _ in said)).index(one[1]))


def principles_page(examples: Mapping[tuple[type, str], Any]) -> str:
    """The page of the keys of `principle`."""
    found: dict[tuple[str, str], list[tuple[str, type, FieldInfo]]] = {}
    for principle in PRINCIPLES.values():
        for name, field in principle.parameters.model_fields.items():
            said = words(principle.parameters, name)
            if name != "name" and not said.startswith("Of no effect"):
                declared = (principle.name, principle.parameters, field)
                first = next((key for key in found if key[0] == name), None)
                key = first if first and said == AS_ELSEWHERE else (name, said)
                found.setdefault(key, []).append(declared)
    parameters = []
    for (name, text), declarations in found.items():
        example = next(examples[one, name] for _, one, _ in declarations if (one, name) in examples)
        named = ", ".join(f"`{one}`" for one, _, _ in declarations)
        parameters.append((*row(name, declarations[0][2], example), named, text))
    lines = [
        "# The keys of principle",
        MADE,
        "What a contract says under `principle`. `name` is the principle's name:",
        "\n".join(
            f"- [`{name}`](../explanation/{name}.md): {sentence(principle.parameters)}"
            for name, principle in PRINCIPLES.items()
        ),
        ABOUT_PRINCIPLES,
        table(("key", "type", "default", "example", "principles", "meaning"), parameters),
        "## previous",
        OF_PREVIOUS,
        table(
            ("key", "type", "default", "example", "meaning"),
            [
                (*row(name, field, examples[PreviousRelease, name]), words(PreviousRelease, name))
                for name, field in PreviousRelease.model_fields.items()
                if name not in Dialect.model_fields
            ],
        ),
    ]
    return "\n\n".join(lines) + "\n"


def commands_page() -> str:
    """The page of all commands. An option that several of them have is explained, the others are named."""
    every: Mapping[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    counted = Counter(cell(one.help) for command in every.values() for one in command.params)
    shared = {
        cell(one.help): one
        for command in every.values()
        for one in command.params
        if counted[cell(one.help)] >= OFTEN
    }
    rows = []
    for command in every.values():
        options = [one for one in command.params if one.opts[0].startswith("-")]
        arguments = [called(one) for one in command.params if one not in options]
        own = [f"`{'/'.join(option_names(one))}`" for one in options if cell(one.help) not in shared]
        named = f"`{' '.join([command.name, *arguments])}`"
        rows.append((named, paragraphs(command.help)[0], ", ".join(own)))
    lines = [
        "# Commands",
        MADE,
        f"{ABOUT_COMMANDS} {one_line(app.info.epilog)}",
        table(("command", "what it does", "options of its own"), rows),
        "## What several commands have",
        words_table(shared.values()),
    ]
    return "\n\n".join(lines) + "\n"


def words_table(parameters: Iterable[Any]) -> str:
    """A table of arguments and options."""
    return table(("word", "meaning"), [(f"`{called(one)}`", explained(one)) for one in parameters])


def called(parameter: Any) -> str:
    """An argument or an option as it is written in a command."""
    metavar = parameter.metavar or metavar_of(parameter.type_descriptor.annotation)
    if not parameter.opts[0].startswith("-"):
        return str(metavar)
    if getattr(parameter, "is_flag", False):
        return "/".join(option_names(parameter))
    return f"{parameter.opts[0]} {metavar}"


def option_names(parameter: Any) -> list[str]:
    """What an option is called: a flag that can be turned off has two names."""
    return [*parameter.opts, *parameter.secondary_opts]


def metavar_of(annotation: type) -> str:
    """A word for the values of a type."""
    if issubclass(annotation, Enum):
        return "/".join(one.value for one in annotation)
    return {int: "NUMBER", float: "NUMBER"}.get(annotation, "TEXT")


def explained(parameter: Any) -> str:
    """The help of an argument or option, with its default."""
    text, default = cell(parameter.help), parameter.default
    if default not in (None, False, [], ()) and "efault" not in text:
        text += f" Default: {getattr(default, 'value', default)}."
    return text + (
        f" In the environment: `{parameter.envvar}`." if getattr(parameter, "envvar", None) else ""
    )


def declared_examples() -> dict[tuple[type, str], Any]:
    """What the contracts of contracts.yaml declare for each key of each class, the first that does."""
    found: dict[tuple[type, str], Any] = {}
    for text in (FOLDER / "contracts.yaml").read_text().split("\n---\n"):
        declared = yaml.safe_load(text)
        parsed = parse_contract(_dates_as_text(declared), where="contracts.yaml")
        for owner, key, value in _walk(parsed, declared):
            for one in owner.__mro__:
                found.setdefault((one, key), value)
    return found


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [headings, ["-"] * len(headings), *rows]
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def row(name: str, field: FieldInfo, example: Any) -> tuple[str, str, str, str]:
    """The cells of a key: its name, type, default and example."""
    default = "" if field.is_required() else _default(field.get_default(call_default_factory=True))
    kind = type_name(field.annotation)
    if example != "below":
        example = "" if CHOICES.fullmatch(kind) else f"`{cell(_flow(example))}`"
    return f"`{name}`", kind, default, example


def words(declared: type[Declaration], name: str) -> str:
    """What a key says, on one line."""
    return cell(keys_of(declared)[name])


def of_principles(key: str) -> str:
    """The principles whose contracts have a key, where not all do."""
    have = [
        name
        for name, one in PRINCIPLES.items()
        if key in one.contract.model_fields and not (key == "shards" and one.undivided)
    ]
    without = [name for name in PRINCIPLES if name not in have]
    if not without:
        return ""
    return f"all but `{without[0]}`" if len(without) == 1 else ", ".join(f"`{name}`" for name in have)


def type_name(annotation: Any) -> str:
    """A type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        named = type_name(arguments[0])
    elif origin is Literal:
        named = ", ".join(f"`{one}`" for one in arguments)
    elif origin in (Union, types.UnionType):
        named = " or ".join(dict.fromkeys(type_name(one) for one in arguments if one is not type(None)))
    elif origin is tuple:
        named = "list" if Ellipsis in arguments else f"list of {len(arguments)}"
    else:
        named = TYPES.get(annotation, "mapping")
    return named


def cell(text: str | None) -> str:
    """A text as a cell of a table."""
    return one_line(text).replace("|", "\\|")


def one_line(text: str | None) -> str:
    """A text without line ends."""
    return " ".join((text or "").split())


def paragraphs(text: str | None) -> list[str]:
    """The paragraphs of a docstring."""
    return [one_line(part) for part in re.split(r"\n\s*\n", text or "")]


def sentence(documented: type) -> str:
    """The first paragraph of a docstring, after a colon."""
    said = paragraphs(inspect.getdoc(documented) or "")[0]
    return said.partition(": ")[2] or said


def _walk(parsed: Declaration, declared: Mapping[str, Any]) -> Iterator[tuple[type, str, Any]]:
    """Each key that a part of a contract declares, with the class that it belongs to."""
    for key, value in declared.items():
        yield type(parsed), key, value
        part = getattr(parsed, key)
        part = getattr(part, "columns", part) if key == "sensitive" else part
        parts = part.values() if isinstance(part, Mapping) else part if isinstance(part, tuple) else (part,)
        listed = value if isinstance(value, list) else (value,)
        listed = value.values() if isinstance(part, Mapping) else listed
        for one, says in zip(parts, listed, strict=False):
            if isinstance(one, Declaration) and isinstance(says, Mapping):
                yield from _walk(one, says)


def _dates_as_text(declared: Any) -> Any:
    if isinstance(declared, Mapping):
        return {str(key): _dates_as_text(value) for key, value in declared.items()}
    if isinstance(declared, list):
        return [_dates_as_text(one) for one in declared]
    return str(declared) if isinstance(declared, dt.date) else declared


def _default(value: Any) -> str:
    if value is None or value in ("", (), {}) or isinstance(value, Declaration):
        return "none"
    return f"`{_flow(value)}`"


def _flow(value: Any) -> str:
    """A value as a contract writes it, on one line."""
    written = yaml.safe_dump(
        value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True
    )
    return written.removesuffix("...\n").strip()


if __name__ == "__main__":
    main()
