"""Typed jobs: values as JSON, in the form of Java's ``JobKind``."""

import dataclasses
import json
import re
import typing
from typing import Any, Generic, Optional, Type, TypeVar, Union

from ._http import to_json

P = TypeVar("P")
R = TypeVar("R")

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class JobKind(Generic[P, R]):
    """A kind of job whose payload and result are values. Immutable.

    Submitters and workers share it, in Python or in Java, and may be of different versions: fields that one side does not
    know are ignored, and those that are missing have their defaults, or are None, zero, False or empty. ``name`` is the
    name of the job type, which the server has to know (``jobs.types.NAME`` in its configuration). ``payload`` and ``result``
    are a dataclass, ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool``, a type of ``typing`` made of these, ``bytes``
    (sent as they are) or, for jobs without a result, ``None``.
    """

    def __init__(self, name: str, payload: Type[P], result: Optional[Type[R]] = None) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f'the name of a kind of job has 1 to 64 characters out of A-Z a-z 0-9 . _ -, not "{name}"')
        self.name = name
        self.payload = payload
        self.result = result

    def write(self, value: Any) -> bytes:
        """A payload or result as bytes. A value that is not JSON is a TypeError or ValueError."""
        return bytes(value) if isinstance(value, (bytes, bytearray)) else to_json(plain(value))

    def read_payload(self, content: bytes) -> P:
        """A payload from its bytes. Raises ValueError if they are no such value."""
        return typing.cast(P, _read(self.payload, content))

    def read_result(self, content: bytes) -> R:
        """A result from its bytes. Raises ValueError if they are no such value."""
        return typing.cast(R, _read(self.result, content))


def plain(value: Any) -> Any:
    """A value with dataclasses replaced by objects of their fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def _read(kind: Any, content: bytes) -> Any:
    return content if kind is bytes else shaped(kind, json.loads(content.decode("utf-8")))


def shaped(kind: Any, value: Any, where: str = "the value") -> Any:
    """A JSON value as a type. Raises ValueError with the place at which it does not fit."""
    if kind is Any or kind is None or kind is type(None):
        return value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Union or str(origin) == "<class 'types.UnionType'>":
        if value is None and type(None) in arguments:
            return None
        for choice in arguments:
            if choice is not type(None):
                try:
                    return shaped(choice, value, where)
                except ValueError:
                    continue
        raise ValueError(f"{where} is of another type: {value!r:.100}")
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, value, where)
    base = origin or kind
    if base is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if base in (list, tuple) and isinstance(value, list):
        element = arguments[0] if arguments else Any
        return base(shaped(element, one, f"{where}[{index}]") for index, one in enumerate(value))
    if base is dict and isinstance(value, dict):
        element = arguments[1] if arguments else Any
        return {key: shaped(element, one, f"{where}.{key}") for key, one in value.items()}
    if not isinstance(value, base) or (isinstance(value, bool) and base is not bool):
        raise ValueError(f"{where} is not of type {getattr(kind, '__name__', kind)}: {value!r:.100}")
    return value


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no {kind.__name__}: {value!r:.100}")
    hints = typing.get_type_hints(kind)
    given = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        if field.name in value:
            given[field.name] = shaped(hints[field.name], value[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            base = typing.get_origin(hints[field.name]) or hints[field.name]
            given[field.name] = base() if base in (str, int, float, bool, list, dict, tuple) else None
    return kind(**given)
