"""The parameters of a principle: what every principle's own class of them has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, StrictInt, ValidationError, ValidationInfo
from pydantic_core import InitErrorDetails
from typing_extensions import TypeVar

from republish.anonymize.contract.scalars import Declaration
from republish.anonymize.contract.sensitive import Sensitive


def _check_from_two(number: int, info: ValidationInfo) -> int:
    if number < 2:
        raise ValueError(f"{info.field_name} ({number}) must be at least 2")
    return number


FromTwo = Annotated[StrictInt, AfterValidator(_check_from_two)]
"""A whole number from 2 on: how many values a person's own is hidden among."""


class Parameters(Declaration):
    """The part of a contract under `principle`; each principle has a class of its own for it."""

    name: str
    """The principle's name."""


P_co = TypeVar("P_co", bound=Parameters, default=Parameters, covariant=True)
"""The class of a contract's parameters, where its principle is known."""


def too_few_values(name: str, number: int, sensitive: Sensitive) -> list[tuple[str, str]]:
    """The fault of a contract that lists fewer sensitive values than everybody's is to be hidden among.

    A group may have a value that may be known as often as it takes. `name` is the parameter that says among
    how many, `number`.
    """
    faults = []
    for one in sensitive.columns:
        if one.values is not None and not one.not_sensitive and len(one.values) < number:
            listed = f"sensitive[{one.name}].values" if sensitive.is_several else "sensitive.values"
            needs = f"{name} ({number}) needs as many sensitive values, and {listed} lists {len(one.values)}"
            faults.append((f"principle.{name}", needs))
    return faults


def read_parameters(declared: Any, principles: Mapping[str, type[Parameters]]) -> Parameters:
    """The parameters that a contract declares, in the class of the principle it names.

    Raises
    ------
    pydantic.ValidationError
        Naming every fault.
    """
    if not isinstance(declared, Mapping):
        raise _fault("model_type", (), declared, {"class_name": "principle"})
    if "name" not in declared:
        raise ValueError(f"name is missing; accepted: {', '.join(principles)}")
    named = principles.get(declared["name"]) if isinstance(declared["name"], str) else None
    if named is None:
        raise _fault("literal_error", ("name",), declared["name"], {"expected": ", ".join(principles)})
    return named.model_validate(declared)


def _fault(kind: str, location: tuple[str, ...], given: Any, context: dict[str, str]) -> ValidationError:
    details = InitErrorDetails(type=kind, loc=location, input=given, ctx=context)
    return ValidationError.from_exception_data("principle", [details])
