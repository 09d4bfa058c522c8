"""`datetime.datetime` and `datetime.date` that know what day it is in the simulation."""

from __future__ import annotations

import datetime as real
from typing import Any

from airloom.virtual.baton import NS


def virtual_dates(unix_ns: Any) -> dict[Any, Any]:
    """What takes the place of what; `unix_ns` tells the time."""

    class Kind(type):
        """Objects and classes of modules that hold the old class are dates as well."""

        def __instancecheck__(cls, it: object) -> bool:
            return isinstance(it, olds.get(cls, ())) or type.__instancecheck__(cls, it)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, olds.get(cls, ())) or type.__subclasscheck__(cls, kind)

    class date(real.date, metaclass=Kind):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(unix_ns() / NS)

        def __repr__(self) -> str:
            return ("datetime." if type(self) is date else "") + super().__repr__()

    class datetime(real.datetime, metaclass=Kind):
        @classmethod
        def now(cls, tz: real.tzinfo | None = None) -> Any:
            seconds, rest = divmod(unix_ns(), NS)
            return cls.fromtimestamp(seconds, tz).replace(microsecond=rest // 1000)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(real.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

        def __repr__(self) -> str:
            return ("datetime." if type(self) is datetime else "") + super().__repr__()

    for kind in (date, datetime):
        kind.__module__, kind.__qualname__ = "datetime", kind.__name__
    olds: dict[type, Any] = {date: real.date, datetime: real.datetime}
    return {old: new for new, old in olds.items()}
