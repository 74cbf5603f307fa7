"""Read dates: ISO dates, seconds since 1970, quarters, weeks, and every other form that dateutil reads.

A date stands for an interval of days, because it may name a day, a month or a year only. A text such as 03/04/2020 has
several readings, unless the order of day, month and year is given.
"""

from __future__ import annotations

import calendar
import datetime
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast

from lexshift.errors import UserError

AUTO = "auto"
ORDERS = ("DMY", "MDY", "YMD")
"""Orders of day (D), month (M) and year (Y) in dates that are written in figures."""
UNITS = ("week", "month", "quarter", "year", "decade")
"""Lengths of periods."""
OF_YEARS = ("year", "decade")
"""Those that consist of whole years."""
MISSING = frozenset({"", "nan", "NaN", "NaT", "None", "<NA>"})
"""Texts of fields that hold no date."""
_MANY = 1 << 14  # number of dates whose periods are remembered: usually there are fewer different ones than records
_LONGEST = 100  # characters of a date
_DAY = 86_400  # seconds
_ISO = re.compile(r"(\d{4})(?:\.0+)?(?:([-/.]?)(\d{2})(?:\2(\d{2})(?:[TZ ].*)?)?)?", re.DOTALL)
_ISO_DAY = re.compile(r"\d{4}([-/.])\d{2}\1\d{2}[TZ ]")
_BEGINNING = 11  # characters that this pattern matches
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:\d{4}|\d{6})")  # with hours, minutes and seconds
_DECADE = re.compile(r"(\d{3})0['’]?s")
_QUARTER = re.compile(r"(\d{4})[- /]?Q([1-4])|Q([1-4])[- /]?(\d{4})", re.IGNORECASE)
_WEEK = re.compile(r"(\d{4})-?W(\d{2})(?:-?([1-7]))?", re.IGNORECASE)
_MONTH = re.compile(r"(\d{1,2})[-/. ](\d{4})|(\d{4})[-/ ](\d)")
_DAYS = re.compile(r"(\d{4}-\d{2}-\d{2})/(\d{4}-\d{2}-\d{2})")  # the first and the last day, as pandas writes a week
_SECONDS = re.compile(r"-?(?:\d{9,}(?:\.\d*)?|\d\.\d+e\+\d\d)", re.IGNORECASE)
_FIGURES = re.compile(r"(?<![\d./-])(\d{1,4})([-/. ])(\d{1,2})\2(\d{1,4})(?![\d/-]|\.\d)")  # day, month and year
_TIME = re.compile(r"(?<![\d:+-])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-6]\d(?:[.,]\d+)?)?(?![\d:])")
_IN_NAME = re.compile(
    r"(?<!\d)(1\d{3}|20\d{2})"  # a year, or a date
    r"(?:([-_.]?)(?:(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?|[Qq]([1-4])|[Ww](0[1-9]|[1-4]\d|5[0-3])))?(?!\d)"
)
_OF_DECADE = re.compile(r"['’]?s(?![^\W\d_])")  # what follows the year of a decade in a name, as in 1850s-letters.txt
# dateutil fills what is missing with a default. Two defaults differ in every part, and in more than a week.
_EARLY, _LATE = datetime.datetime(2000, 1, 1), datetime.datetime(2003, 2, 15)


class Date(NamedTuple):
    """The days that a date may mean: one day, or all days of a month, a year or another interval."""

    first: datetime.date
    last: datetime.date

    def period(self, unit: str) -> str | None:
        """Return the period of a date; None if the date is not precise enough.

        >>> date = read_date("2020-03-01")[0]
        >>> [date.period(unit) for unit in UNITS]
        ['2020-W09', '2020-03', '2020-Q1', '2020', '2020s']
        """
        period = _period_of_day(self.first, unit)
        return period if self.first == self.last or period == _period_of_day(self.last, unit) else None


def read_date(text: str, order: str = AUTO) -> tuple[Date, ...]:
    """Return the readings of a date: none if the text is not a date, several if it is ambiguous.

    Times of day and time zones are ignored: the date is the one that is written. Seconds, milliseconds, microseconds
    and nanoseconds since 1970 are those of UTC.

    Parameters
    ----------
    text : str
    order : "auto", "DMY", "MDY" or "YMD"
        Order of day, month and year in dates that are written in figures and do not begin with a year of four digits.

    Examples
    --------
    >>> [str(date.first) for date in read_date("March 3, 2020")]
    ['2020-03-03']
    >>> [str(date.first) for date in read_date("03/04/2020")]
    ['2020-04-03', '2020-03-04']
    >>> read_date("Monday")
    ()
    """
    text = text.strip()
    if iso := _ISO.fullmatch(text):
        return _readings(_date(iso[1], iso[3], iso[4]))
    if len(text) > _LONGEST:
        return ()
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in unicodedata.normalize("NFKC", text))
    if _SECONDS.fullmatch(text) and not _COMPACT.fullmatch(text):
        return _readings(_date_of_seconds(text))
    return _read_other(_TIME.sub("00:00:00", text), order)


def order_of(text: str) -> str | None:
    """Return the order of a date in figures that can be read in one order only, for instance DMY for 25/12/2020.

    >>> order_of("25/12/2020"), order_of("03/04/2020"), order_of("2020-12-25")
    ('DMY', None, None)
    """
    figures = _FIGURES.search(text)
    orders = (
        [] if figures is None or len(figures[1]) > 2 else [order for order in ORDERS if _date_in_order(figures, order)]
    )
    return orders[0] if len(orders) == 1 else None


def read_day(value: object, name: str) -> str:
    """Return the first day of a date that the user gave, as 2020-03-01.

    >>> read_day("March 2020", "split_at"), read_day(datetime.date(2020, 3, 1), "split_at")
    ('2020-03-01', '2020-03-01')
    """
    readings = read_date(date_text(value) or "")
    if len(readings) != 1:
        raise UserError(f"{name} must be a date such as 2020-03-01; got {value!r}")
    return str(readings[0].first)


def date_text(value: object) -> str | None:
    """Return the text of a date in a field of a table, or None if the field is empty.

    >>> date_text(datetime.date(2020, 3, 1)), date_text(float("nan")), date_text(1999)
    ('2020-03-01', None, '1999')
    """
    text = value if isinstance(value, str) else str(value)
    if text in MISSING:
        return None
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def arrow_dates(column: Any) -> list[Any]:
    """Return the values of an Arrow column; dates and timestamps as text, because Python cannot hold all of them.

    Each different value is converted once.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_integer(kind) or pa.types.is_string(kind):
        column, kind = column.dictionary_encode(), None
    if kind is not None and not pa.types.is_dictionary(kind):
        return cast("list[Any]", column.to_pylist())
    values = column.dictionary
    values = (values.cast(pa.string()) if pa.types.is_temporal(values.type) else values).to_pylist()
    if not column.null_count:
        return [values[index] for index in column.indices.to_pylist()]
    return [None if index is None else values[index] for index in column.indices.to_pylist()]


def date_of_file(name: str) -> Date | None:
    """Return the first year (1000 to 2099), decade or date in the name of a file, or else of its folders.

    >>> str(date_of_file("letters/2001-07-31.txt").first), date_of_file("news.txt")
    ('2001-07-31', None)
    >>> [str(day) for day in date_of_file("1850s.txt")]
    ['1850-01-01', '1859-12-31']
    """
    for part in reversed(name.split("/")):
        if match := _IN_NAME.search(part):
            year, _, month, day, quarter, week = match.groups()
            if match[0] == year and year.endswith("0") and _OF_DECADE.match(part, match.end()):
                return _decade(int(year))
            if quarter:
                return _quarter(int(year), int(quarter))
            return _week(int(year), int(week)) if week else _date(year, month, day)
    return None


def date_in_name(name: str) -> str | None:
    """Return the first date in the name of a file as text that :func:`read_date` reads; None if there is none.

    >>> date_in_name("letters/2001-07.xml"), date_in_name("1851.xml"), date_in_name("a.xml")
    ('2001-07', '1851', None)
    >>> date_in_name("1850s.xml")
    '1850-01-01/1859-12-31'
    """
    date = date_of_file(name)
    if date is None:
        return None
    first, last = date.first, date.last
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return f"{first.year:04}"
    if (
        first.day == 1
        and (last + datetime.timedelta(days=1)).day == 1
        and (first.year, first.month) == (last.year, last.month)
    ):
        return f"{first.year:04}-{first.month:02}"
    return first.isoformat() if first == last else f"{first.isoformat()}/{last.isoformat()}"


class DateReader:
    """Assign dates to periods, and refuse dates that have several readings.

    Parameters
    ----------
    period_of : callable
        Returns the name of the period of a :class:`Date`, or None if the date is not precise enough.
    order : "auto", "DMY", "MDY" or "YMD"
    of_years : bool
        Whether periods consist of whole years, so that it does not matter which number is the month.
    """

    def __init__(self, period_of: Callable[[Date], str | None], order: str, of_years: bool = False) -> None:
        self._period_of, self._order, self._of_years = period_of, order, of_years
        self._clear: str | None = None  # a date whose order is clear
        self._cached = lru_cache(_MANY)(self._periods)
        self._known: dict[str | None, str | None] = {}  # periods by date, or by the beginning of a date with a time

    def periods(self, dates: Sequence[str | None], file: str, rows: Sequence[int]) -> list[str | None]:
        """Return the periods of the dates of records, None for those that have none; see :meth:`period`."""
        known = self._known
        if len(known) > _MANY:
            known.clear()
        periods = []
        for index, text in enumerate(dates):
            # Times of the same day, as in 2020-03-01T12:30, need not be read again.
            key = text if text is None else text[:_BEGINNING]
            if key not in known:
                period = None if text is None else self.period(text, file, rows[index])
                if text is not None and len(text) >= _BEGINNING and not _ISO_DAY.match(text):
                    periods.append(period)
                    continue
                known[key] = period
            periods.append(known[key])
        return periods

    def period(self, text: str, file: str, row: int) -> str | None:
        """Return the period of the date of a record, or None if it has none.

        Raises a :class:`lexshift.errors.UserError` if the date is ambiguous or contradicts the order.
        """
        periods = self._cached(text)
        if len(periods) > 1:
            raise self._ambiguity_error(text, f"record {row} of {file!r}")
        if not periods and self._order != AUTO and read_date(text):
            raise UserError(
                f"the date {text!r} in record {row} of {file!r} is not in the order {self._order}: choose another "
                f"--date-order, or write all dates in one order"
            )
        return periods[0] if periods else None

    def _periods(self, text: str) -> list[str | None]:
        """Return the periods of the readings of a date; one if it does not matter which reading is right."""
        readings = read_date(text, self._order)
        if len(readings) > 1 and not self._of_years:
            return [str(date.first) for date in readings]
        if len(readings) == 1 and self._order == AUTO and self._clear is None and not text[:4].isdecimal():
            self._clear = text if order_of(text) else None
        return list(dict.fromkeys(map(self._period_of, readings)))

    def _ambiguity_error(self, text: str, location: str) -> UserError:
        readings = " or ".join(str(date.first) for date in read_date(text, self._order))
        hint = f"; {self._clear!r} is in the order {order_of(self._clear)}" if self._clear else ""
        return UserError(
            f"the date {text!r} in {location} may be {readings}: give the order of day (D), month (M) and year (Y) "
            f"with --date-order DMY, MDY or YMD{hint}"
        )


def _readings(date: Date | None) -> tuple[Date, ...]:
    return () if date is None else (date,)


def _date(year: str, month: str | None, day: str | None) -> Date | None:
    """Return the date of numbers, which may have digits of any script."""
    try:
        if day:
            exact = datetime.date(int(year), int(month or 1), int(day))
            return Date(exact, exact)
        return _months(int(year), int(month), int(month)) if month else _months(int(year), 1, 12)
    except ValueError:
        return None


def _months(year: int, first: int, last: int) -> Date:
    """Return all days of some months of a year."""
    begin = datetime.date(year, first, 1)
    return Date(begin, datetime.date(year, last, calendar.monthrange(year, last)[1]))


def _quarter(year: int, quarter: int) -> Date | None:
    return _months(year, 3 * quarter - 2, 3 * quarter) if year else None


def _decade(year: int) -> Date | None:
    return Date(datetime.date(year, 1, 1), datetime.date(year + 9, 12, 31)) if year else None


def _week(year: int, week: int, day: int | None = None) -> Date | None:
    try:
        days = [datetime.date.fromisocalendar(year, week, number) for number in ((day, day) if day else (1, 7))]
    except ValueError:
        return None
    return Date(*days)


def _date_of_seconds(text: str) -> Date | None:
    """Return the day of a time since 1970; its number of digits tells the unit."""
    whole = int(float(text)) if "e" in text.lower() else int(text.split(".")[0])
    digits = len(str(abs(whole)))
    unit = {9: 1, 10: 1, 13: 10**3, 16: 10**6, 19: 10**9}.get(digits)
    if unit is None:
        return None
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days=whole // (unit * _DAY))
    return Date(day, day)


@lru_cache(_MANY)
def _read_other(text: str, order: str) -> tuple[Date, ...]:
    """Return the readings of a date that is neither an ISO date nor a number of seconds."""
    if match := _COMPACT.fullmatch(text):
        return _readings(_date(*match.groups()))
    if match := _DECADE.fullmatch(text):
        return _readings(_decade(10 * int(match[1])))
    if match := _QUARTER.fullmatch(text):
        return _readings(_quarter(int(match[1] or match[4]), int(match[2] or match[3])))
    if match := _WEEK.fullmatch(text):
        return _readings(_week(int(match[1]), int(match[2]), int(match[3]) if match[3] else None))
    if match := _MONTH.fullmatch(text):
        return _readings(_date(match[2] or match[3], match[1] or match[4], None))
    if match := _DAYS.fullmatch(text):
        first, last = read_date(match[1]), read_date(match[2])
        return _readings(Date(first[0].first, last[0].last) if first and last and first <= last else None)
    if match := _FIGURES.search(text):
        return _read_figures(text, match, order)
    return _readings(_read_words(text, order) if any(map(str.isalpha, text)) else None)


def _read_figures(text: str, match: re.Match[str], order: str) -> tuple[Date, ...]:
    """Return the readings of a date in figures, if the rest of the text is a time or a day of the week."""
    begins_with_year = len(match[1]) > 2
    orders = ORDERS[2:] if begins_with_year else ORDERS if order == AUTO else (order,)
    dates = list(dict.fromkeys(date for each in orders if (date := _date_in_order(match, each)) is not None))
    if dates and match[0] != text and _read_words(_in_iso(text, match, dates[0]), AUTO) != dates[0]:
        return ()
    return tuple(dates)


def _in_iso(text: str, match: re.Match[str], date: Date) -> str:
    return f"{text[: match.start()]}{date.first}{text[match.end() :]}"


def _date_in_order(match: re.Match[str], order: str) -> Date | None:
    """Return the date of three numbers in an order; a year has four digits, or two that mean 1969 to 2068."""
    parts = dict(zip(order, (match[1], match[3], match[4]), strict=True))
    if len(parts["Y"]) not in (2, 4) or len(parts["D"]) > 2 or len(parts["M"]) > 2:
        return None
    year = int(parts["Y"]) if len(parts["Y"]) == 4 else _full_year(int(parts["Y"]))
    return _date(str(year), parts["M"], parts["D"])


def _full_year(year: int) -> int:
    """Return the year of two digits as POSIX does; unlike that of dateutil, the result does not depend on today."""
    return year + (1900 if year >= 69 else 2000)


def _read_words(text: str, order: str) -> Date | None:
    """Return the date that dateutil reads, without the parts that it fills in; None if the year is missing."""
    try:
        early, late = (
            _parser().parse(text, default, ignoretz=True, dayfirst=order == "DMY", yearfirst=order == "YMD")
            for default in (_EARLY, _LATE)
        )
    except (ValueError, TypeError, AttributeError, ArithmeticError, LookupError):  # dateutil raises any of them
        return None
    if early.year != late.year or not _has_year(text, early.year):
        return None
    has_month, has_day = early.month == late.month, early.day == late.day
    if has_day and not has_month:
        return None
    return _date(f"{early.year}", f"{early.month}" if has_month else None, f"{early.day}" if has_day else None)


def _has_year(text: str, year: int) -> bool:
    """Return whether a text has a year in four digits, or in two; dateutil takes any number for a year."""
    return f"{year:04}" in text or (year == _full_year(year % 100) and f"{year % 100:02}" in text)


@cache
def _parser() -> Any:
    from dateutil.parser import parser, parserinfo

    class Information(parserinfo):  # type: ignore[misc]
        def convertyear(self, year: int, century_specified: bool = False) -> int:
            return year if year >= 100 or century_specified else _full_year(year)

    return parser(Information())


def _period_of_day(day: datetime.date, unit: str) -> str:
    """Return the period of a day; the names of periods sort by time."""
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    if unit == "month":
        return f"{day.year:04}-{day.month:02}"
    if unit == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return f"{day.year:04}" if unit == "year" else f"{day.year // 10:03}0s"
