"""`datetime.datetime` and `datetime.date` that know what day it is in the simulation."""

from __future__ import annotations

import datetime as real
from typing import Any

from airloom.loom.virtual_time import NS


def virtual_dates(unix_ns: Any) -> dict[Any, Any]:
    """What takes the place of what; `unix_ns` tells the time."""
    date_kind, datetime_kind = real.date, real.datetime

    class DateKind(type):
        """Those made by modules that hold the old class are dates as well."""

        def __instancecheck__(cls, it: object) -> bool:
            return isinstance(it, date_kind)

    class DatetimeKind(type):
        def __instancecheck__(cls, it: object) -> bool:
            return isinstance(it, datetime_kind)

    class date(real.date, metaclass=DateKind):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(unix_ns() / NS)

    class datetime(real.datetime, metaclass=DatetimeKind):
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

    for kind in (date, datetime):
        kind.__module__, kind.__qualname__ = "datetime", kind.__name__
    return {date_kind: date, datetime_kind: datetime}
