"""The YAML that contracts and mappings are written in: safe, with the scalars of version 1.2."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import yaml

from republish.anonymize.errors import ContractError
from republish.orchestration.limits import check

Fault = tuple[str, str]
"""A key, and what is wrong with it and what is accepted."""


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises ContractError if it can't be read, is not YAML, or gives a key twice.
    """
    declared, faults = parse_yaml(read_content(path), str(path))
    if faults:
        raise ContractError(str(path), faults)
    return declared


def read_content(path: Path) -> bytes:
    """The bytes of a file, or a ContractError that says why it can't be read."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ContractError(str(path), [("", "is a device or a pipe, not a YAML file")])
    try:
        check(path, "text", path.stat().st_size)
        return path.read_bytes()
    except FileNotFoundError:
        raise ContractError(str(path), [("", "there is no such file")]) from None
    except IsADirectoryError:
        raise ContractError(str(path), [("", "is a folder, not a YAML file")]) from None
    except OSError as error:
        raise ContractError(str(path), [("", f"can't be read: {error.strerror}")]) from None


def on_a_line(declared: Any) -> str:
    """Something as a contract may declare it, in one line."""
    return yaml.safe_dump(declared, default_flow_style=True, allow_unicode=True, width=float("inf")).strip()


def parse_yaml(content: bytes, where: str) -> tuple[Any, list[Fault]]:
    """Read a YAML text; returns its content, and the keys it gives more than once.

    Scalars are those of YAML 1.2: `no` and `010` are text, only `true` and `false` are not.

    Raises ContractError if it is not YAML, with the line, and LimitError if a list in it is too long.
    """
    _check_lists(content, where)
    try:
        loader = _Loader(content)
        declared = loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}" if mark else ""
        raise ContractError(where, [(place, f"is not YAML: {error.problem}")]) from None
    except yaml.reader.ReaderError as error:
        line = content[: error.position].count(b"\n") + 1
        raise ContractError(where, [(f"line {line}", f"is not text in UTF-8: {error.reason}")]) from None
    except (ValueError, RecursionError):  # an explicit tag on another kind of value; a thousand brackets
        raise ContractError(where, [("", "is not YAML that a contract can be written in")]) from None
    if declared is None:
        raise ContractError(where, [("", "is empty: a contract is a mapping of keys (product, series, …)")])
    return declared, loader.repeated


def _check_lists(content: bytes, where: str) -> None:
    """Refuse lists of more columns (mappings) or labels than are read, before anything is made of them.

    The parser in C goes through a text 30 times as fast as the one in Python makes values of it. It is asked
    only how long lists are. Where it finds fault with the text, or is not installed, the other one decides.
    """
    if not yaml.__with_libyaml__:
        return
    open_lists: list[dict[str, int]] = [{}]
    # An error of the parser has no bearing here.
    with suppress(yaml.YAMLError, ValueError):
        for event in yaml.parse(content, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
                name = "columns" if isinstance(event, yaml.MappingStartEvent) else "labels"
                open_lists[-1][name] = open_lists[-1].get(name, 0) + 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_lists.append({})
            if isinstance(event, yaml.CollectionEndEvent):
                entries = open_lists.pop()
                if isinstance(event, yaml.SequenceEndEvent):
                    for name, number in entries.items():
                        check(where, name, number)


class _Loader(yaml.SafeLoader):
    """Safe YAML with the scalars of version 1.2, dates left as text; notes keys that are given twice."""

    # PyYAML's stubs say that it is of the instance; PyYAML itself makes it one of the class.
    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]

    def __init__(self, content: bytes):
        super().__init__(content)
        self.repeated: list[Fault] = []

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """A node; one that repeats another could make a few lines stand for more than fits into memory."""
        if self.check_event(yaml.AliasEvent):
            # The stubs give `peek_event` no types.
            raise yaml.MarkedYAMLError(
                problem="an alias (*name) is not accepted: write the value again",
                problem_mark=self.peek_event().start_mark,  # type: ignore[no-untyped-call]
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                self.repeated.append((name, f"is given twice, in lines {lines[name]} and {line}"))
            lines[name] = line
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(~|null|)$"), ["~", "n", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), ["t", "f"])
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(0|[1-9][0-9]*)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)
