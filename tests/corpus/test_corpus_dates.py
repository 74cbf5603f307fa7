"""Test dates: every form of a day is read back, nonsense is not a date, and ambiguous dates are refused."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift import UserError
from lexshift.corpus.dates import (
    ORDERS,
    UNITS,
    Date,
    DateReader,
    arrow_dates,
    date_in_name,
    date_of_file,
    date_text,
    order_of,
    read_date,
    read_day,
)

DAYS = st.dates(datetime.date(1000, 1, 1))
MOMENTS = st.datetimes(datetime.datetime(1000, 1, 1))
CLEAR = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y%m%d",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%d %H:%M:%S+02:00",
    "%Y%m%dT%H%M%S",
    "%Y%m%d%H%M",
    "%Y%m%d%H%M%S",
    "%Y-%m-%dZ",
    "%Y %m %d",
    "%d %B %Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%A, %d %B %Y",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%a, %d %b %Y %H:%M:%S -0500",
    "%d %b %Y %H:%M:%S+02:00",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S +0000 %Y",
    "%B %d, %Y, %I:%M %p",
    "%G-W%V-%u",
    "%Gw%V%u",
]
IN_FIGURES = {"DMY": "%d{0}%m{0}%Y", "MDY": "%m{0}%d{0}%Y", "YMD": "%Y{0}%m{0}%d"}
SHORT = {"DMY": "%d{0}%m{0}%y", "MDY": "%m{0}%d{0}%y", "YMD": "%y{0}%m{0}%d"}
TIMES = ["", " %H:%M", " %H:%M:%S", ", %I:%M:%S %p", "T%H:%M"]


def day(date: datetime.date) -> Date:
    return Date(date, date)


def read_one(value: object, order: str = "auto") -> Date | None:
    """Return the only reading of a value of a table, or None."""
    readings = read_date(date_text(value) or "", order)
    return readings[0] if len(readings) == 1 else None


# --------------------------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize("form", CLEAR)
@given(moment=MOMENTS)
def test_every_clear_form_of_a_day_is_read_back(form: str, moment: datetime.datetime) -> None:
    assert read_date(f" {moment.strftime(form)}\n") == (day(moment.date()),)


@given(MOMENTS, st.sampled_from(ORDERS), st.sampled_from("/-. "), st.sampled_from(TIMES), st.booleans())
def test_order_tells_day_and_month_apart(
    moment: datetime.datetime, order: str, mark: str, time: str, is_padded: bool
) -> None:
    date = moment.strftime(IN_FIGURES[order].format(mark))
    text = date if is_padded else mark.join(part.lstrip("0") for part in date.split(mark))
    assert read_date(text + moment.strftime(time), order) == (day(moment.date()),)


@given(st.dates(datetime.date(1969, 1, 1), datetime.date(2068, 12, 31)), st.sampled_from(ORDERS))
def test_years_of_two_digits_are_those_from_1969_to_2068(date: datetime.date, order: str) -> None:
    assert read_date(date.strftime(SHORT[order].format("/")), order) == (day(date),)
    assert read_date(date.strftime("%d-%b-%y")) == (day(date),)


def valid_dates(numbers: list[str], order: str) -> set[datetime.date]:
    """Return the dates of three numbers in the order, or in any, written from the definition."""
    found = set()
    for each in ORDERS if order == "auto" else [order]:
        parts = dict(zip(each, numbers, strict=True))
        if len(parts["Y"]) in (2, 4) and max(len(parts["D"]), len(parts["M"])) <= 2:
            year = int(parts["Y"]) + (0 if len(parts["Y"]) == 4 else 1900 if int(parts["Y"]) >= 69 else 2000)
            try:
                found.add(datetime.date(year, int(parts["M"]), int(parts["D"])))
            except ValueError:
                continue
    return found


@given(
    st.integers(0, 40),
    st.integers(0, 40),
    st.one_of(st.integers(0, 99), st.integers(1500, 2100)),
    st.sampled_from(["auto", *ORDERS]),
    st.sampled_from("/-."),
)
def test_readings_are_all_valid_dates_of_the_numbers(a: int, b: int, c: int, order: str, mark: str) -> None:
    numbers = [f"{a:02}", f"{b:02}", f"{c:02}"]
    readings = read_date(mark.join(numbers), order)
    assert sorted(date.first for date in readings) == sorted(valid_dates(numbers, order))
    assert all(date.first == date.last for date in readings)


@given(st.integers(-9_999_999_999, 9_999_999_999).filter(lambda seconds: abs(seconds) >= 10**8))
def test_times_since_1970_are_read_in_every_unit(seconds: int) -> None:
    expected = day((datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)).date())
    assert read_one(seconds) == read_one(f"{seconds}") == read_one(float(seconds)) == expected
    if abs(seconds) >= 10**9:
        assert [read_one(seconds * 1000**power) for power in (1, 2, 3)] == [expected] * 3


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1999", "1999-01-01", "1999-12-31"),
        ("1999.0", "1999-01-01", "1999-12-31"),
        ("1850s", "1850-01-01", "1859-12-31"),
        ("1850's", "1850-01-01", "1859-12-31"),
        ("1850 AD", "1850-01-01", "1850-12-31"),
        ("2020-02", "2020-02-01", "2020-02-29"),
        ("202002", "2020-02-01", "2020-02-29"),
        ("2020-2", "2020-02-01", "2020-02-29"),
        ("2/2020", "2020-02-01", "2020-02-29"),
        ("Feb 2020", "2020-02-01", "2020-02-29"),
        ("February, 2020", "2020-02-01", "2020-02-29"),
        ("Sat Feb 2020", "2020-02-01", "2020-02-29"),
        ("2020Q1", "2020-01-01", "2020-03-31"),
        ("Q4 1999", "1999-10-01", "1999-12-31"),
        ("2020-W53", "2020-12-28", "2021-01-03"),
        ("2020-03-02/2020-03-08", "2020-03-02", "2020-03-08"),
        ("3rd of March 2020", "2020-03-03", "2020-03-03"),
        ("٣ March ٢٠٢٠", "2020-03-03", "2020-03-03"),
        ("3/25/2020, 10:15:00\u202fAM", "2020-03-25", "2020-03-25"),
        ("Wed 25.3.2020", "2020-03-25", "2020-03-25"),
    ],
)
def test_a_date_stands_for_all_days_that_it_may_mean(text: str, first: str, last: str) -> None:
    assert [(str(date.first), str(date.last)) for date in read_date(text)] == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "Monday", "May", "March 3", "10:30", "3 pm", "12.5", "100", "1,500", "2020.5", "2020.25", "1/2"),
        *("1914-1918", "1850-60", "2020-02-30", "30 Feb 2020", "31/04/2020", "13/13/2020", "2020-061", "2020-W60"),
        *("1.2.3.4", "3-4-5", "10.12.13.14", "99 99 99", "12345", "1234567", "-1199-02-15", "17036-07-06", "0000"),
        *(
            "2020-03-08/2020-03-02",
            "3/25/2020 noon",
            "1e9",
            "1e999",
            "9" * 60,
            "1" * 3000,
            "a" * 3000,
            "True",
            "3m 2020",
        ),
        *("\x00", "\ud800", "Q5 2020", "0000Q1", "0000s", "1855s", "<value out of range: 4611686018427387904>"),
    ],
)
def test_nonsense_is_not_a_date(text: str) -> None:
    assert read_date(text) == ()


@given(
    st.one_of(st.text(max_size=30), st.text("0123456789-/.:, TZWQsePMarchonday+", max_size=25)),
    st.sampled_from(["auto", *ORDERS]),
)
def test_any_text_has_readings_that_begin_before_they_end(text: str, order: str) -> None:
    readings = read_date(text, order)
    assert len(set(readings)) == len(readings) <= (3 if order == "auto" else 1)
    assert all(date.first <= date.last for date in readings)


# -------------------------------------------------------------------------------------------------------------- values


@given(MOMENTS.filter(lambda moment: 1700 < moment.year < 2200))
def test_values_of_python_numpy_and_pandas_are_dates(moment: datetime.datetime) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=-5))
    same = [moment, moment.date(), moment.replace(tzinfo=zone), np.datetime64(moment), pd.Timestamp(moment)]
    same += [pd.Period(moment, "D"), pd.Period(moment, "h"), pd.Timestamp(moment, tz="UTC"), str(moment)]
    assert {read_one(value) for value in same} == {day(moment.date())}
    for frequency in ("W", "M", "Q", "Y"):
        period = pd.Period(moment, frequency)
        assert read_one(period) == Date(period.start_time.date(), period.end_time.date())


@pytest.mark.parametrize("value", [None, "", float("nan"), np.nan, pd.NaT, pd.NA, np.datetime64("NaT")])
def test_missing_values_have_no_text(value: Any) -> None:
    assert date_text(value) is None


@pytest.mark.parametrize(
    "kind",
    [
        pa.date32(),
        pa.date64(),
        *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
        pa.timestamp("us", "Asia/Tokyo"),
    ],
    ids=str,
)
def test_arrow_columns_of_dates_are_read(kind: Any) -> None:
    moment = datetime.datetime(2020, 3, 1)
    zone = getattr(kind, "tz", None)
    value = pd.Timestamp(moment, tz=zone).to_pydatetime() if zone else moment
    dates = arrow_dates(pa.array([value, None], kind))
    assert (read_one(dates[0]), dates[1]) == (day(moment.date()), None)


def test_arrow_times_that_python_cannot_hold_are_not_dates() -> None:
    for kind, value in ((pa.timestamp("s"), 2**62), (pa.timestamp("s"), -(10**11)), (pa.timestamp("us", "UTC"), 2**62)):
        (text,) = arrow_dates(pa.array([value], pa.int64()).view(kind))
        assert read_date(text) == ()
    assert arrow_dates(pa.array([1583020800, None])) == [1583020800, None]


# ------------------------------------------------------------------------------------------------------------- periods

FORMATS = {"week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}


def slow_period(date: Date, unit: str) -> str | None:
    """Return the period of a date, by the period of each of its days."""
    days = [date.first + datetime.timedelta(n) for n in range((date.last - date.first).days + 1)]
    if unit in FORMATS:
        labels = {one.strftime(FORMATS[unit]) for one in days}
    elif unit == "quarter":
        labels = {f"{one.year}-Q{[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4][one.month - 1]}" for one in days}
    else:
        labels = {f"{one.year}"[:3] + "0s" for one in days}
    return labels.pop() if len(labels) == 1 else None


@given(DAYS, st.sampled_from(["%Y-%m-%d", "%G-W%V", "%Y-%m", "%Y", "quarter", "decade"]), st.sampled_from(UNITS))
def test_a_date_belongs_to_a_period_if_all_of_its_days_do(date: datetime.date, form: str, unit: str) -> None:
    if date.year > 9990:
        date = date.replace(year=9989)
    names = {"quarter": f"{date.year}Q{(date.month + 2) // 3}", "decade": f"{date.year // 10}0s"}
    (found,) = read_date(names.get(form) or date.strftime(form))
    assert found.period(unit) == slow_period(found, unit)


@given(st.lists(DAYS, min_size=2, max_size=8), st.sampled_from(UNITS))
def test_names_of_periods_sort_by_time(dates: list[datetime.date], unit: str) -> None:
    labels = [str(day(date).period(unit)) for date in sorted(dates)]
    assert labels == sorted(labels)
    assert all(read_date(label)[0].period(unit) == label for label in labels)  # and they are dates themselves


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("news-2020-Q1.txt", "2020-01-01", "2020-03-31"),
        ("2020q4/a.csv", "2020-10-01", "2020-12-31"),
        ("2020-W09.txt", "2020-02-24", "2020-03-01"),
        ("log_20200301.txt", "2020-03-01", "2020-03-01"),
        ("2001Q1x.txt", "2001-01-01", "2001-03-31"),
        ("2001_q.txt", "2001-01-01", "2001-12-31"),
        ("1850s.txt", "1850-01-01", "1859-12-31"),
        ("letters_1850's.txt", "1850-01-01", "1859-12-31"),
        ("1850s-novels/a.xml", "1850-01-01", "1859-12-31"),
        ("1855s.txt", "1855-01-01", "1855-12-31"),
        ("1850stories.txt", "1850-01-01", "1850-12-31"),
    ],
)
def test_names_of_files_hold_dates(name: str, first: str, last: str) -> None:
    date = date_of_file(name)
    assert date is not None
    assert (str(date.first), str(date.last)) == (first, last)
    assert read_date(str(date_in_name(name))) == (date,)  # a document without a date has that of its file


# ----------------------------------------------------------------------------------------------------------- ambiguity


def month_reader(order: str = "auto", unit: str = "month") -> DateReader:
    return DateReader(lambda date: date.period(unit), order, unit in ("year", "decade"))


def test_ambiguous_dates_are_refused_with_their_place_and_the_option() -> None:
    reader = month_reader()
    message = r"'03/04/2020' in record 7 of 'a\.csv' may be 2020-04-03 or 2020-03-04: .*--date-order DMY, MDY or YMD$"
    for _ in range(2):
        with pytest.raises(UserError, match=message):
            reader.period("03/04/2020", "a.csv", 7)
    assert reader.period("04/04/2020", "a.csv", 8) == "2020-04"
    assert reader.period("25/12/2020", "a.csv", 9) == "2020-12"
    with pytest.raises(UserError, match=r"; '25/12/2020' is in the order DMY$"):
        reader.period("03/04/2020", "a.csv", 10)


def test_periods_of_years_need_no_order() -> None:
    assert month_reader(unit="year").period("03/04/2020", "a.csv", 1) == "2020"
    assert month_reader(unit="decade").period("03/04/2020", "a.csv", 1) == "2020s"
    with pytest.raises(UserError, match="may be 2020-04-03 or 2020-03-04 or 2003-04-20"):
        month_reader(unit="year").period("03/04/20", "a.csv", 1)
    for unit in ("week", "month", "quarter"):
        with pytest.raises(UserError, match="--date-order"):
            month_reader(unit=unit).period("03/04/2020", "a.csv", 1)


def test_dates_that_contradict_the_order_are_refused() -> None:
    reader = month_reader("MDY")
    assert reader.period("03/04/2020", "a.csv", 1) == "2020-03"
    assert reader.period("2020-12-25", "a.csv", 2) == "2020-12"
    assert reader.period("25 Dec 2020", "a.csv", 2) == "2020-12"
    assert reader.period("never", "a.csv", 3) is None
    with pytest.raises(
        UserError, match=r"the date '25/12/2020' in record 4 of 'a\.csv' is not in the order MDY: choose"
    ):
        reader.period("25/12/2020", "a.csv", 4)


@given(DAYS)
def test_order_of_a_date_is_known_if_the_day_is_not_a_month(date: datetime.date) -> None:
    orders = [order for order, form in IN_FIGURES.items() if order_of(date.strftime(form.format("."))) == order]
    assert orders == (["DMY", "MDY"] if date.day > 12 else [])


@pytest.mark.parametrize(
    "value", ["2020-03-01", "2020-03", "March 2020", datetime.date(2020, 3, 1), pd.Timestamp(2020, 3, 1)]
)
def test_day_of_the_user_is_the_first_day_of_a_date(value: Any) -> None:
    assert read_day(value, "split_at") == "2020-03-01"


@pytest.mark.parametrize("value", ["", "soon", "03/04/2020", 3, None])
def test_other_values_are_not_a_day(value: Any) -> None:
    with pytest.raises(UserError, match="split_at must be a date such as 2020-03-01; got "):
        read_day(value, "split_at")
