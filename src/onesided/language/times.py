"""What the language takes from a point in time, as the engines have to."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from onesided.language.tree import Part, Span

_MONTHS = {Span.MONTH: 1, Span.QUARTER: 3, Span.YEAR: 12}


def part_of(part: Part, moment: date) -> int | date | None:
    """The part of a date or a point in time; a date has no hour."""
    match part:
        case Part.WEEKDAY:
            return moment.isoweekday()
        case Part.DATE:
            return moment.date() if isinstance(moment, datetime) else moment
        case Part.HOUR:
            return moment.hour if isinstance(moment, datetime) else None
        case Part.MINUTE:
            return moment.minute if isinstance(moment, datetime) else None
        case Part.DAY:
            return moment.day
        case Part.DAY_OF_YEAR:
            return moment.timetuple().tm_yday
        case Part.WEEK:
            return moment.isocalendar().week
        case Part.MONTH:
            return moment.month
        case Part.QUARTER:
            return (moment.month + 2) // 3
        case Part.YEAR:
            return moment.year


def start_of(span: Span, moment: date) -> date:
    """The start of the span, as a date of a date and as a point in time of one."""
    if span is Span.MINUTE and isinstance(moment, datetime):
        return moment.replace(second=0, microsecond=0)
    if span is Span.HOUR and isinstance(moment, datetime):
        return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.date() if isinstance(moment, datetime) else moment
    if span is Span.WEEK:
        day -= timedelta(days=day.isoweekday() - 1)
    elif span in _MONTHS:
        first = (day.month - 1) // _MONTHS[span] * _MONTHS[span] + 1
        day = day.replace(month=first, day=1)
    return datetime.combine(day, time()) if isinstance(moment, datetime) else day


def microseconds(moment: date) -> int:
    """From the start of 1970 to a moment."""
    exact = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    return (exact - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def later(moment: datetime, seconds: int) -> datetime | None:
    """A moment some seconds later; None where the calendar has ended."""
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return None
