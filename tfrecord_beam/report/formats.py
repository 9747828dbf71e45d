"""Formats numbers and sizes for a report."""

from __future__ import annotations

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_MAX_DIGITS = 15
_FLOAT_DIGITS = 9
"""Number of digits with which distinct 32-bit floats have distinct texts."""


def format_number(number: float) -> str:
    """Returns a number with all digits if it is an integer, else with about six.

    >>> format_number(48842), format_number(38.64358543876172), format_number(17031400000.5)
    ('48,842', '38.6436', '17,031,400,000')
    >>> format_number(999999.9)
    '1,000,000'
    """
    if isinstance(number, int):
        return f"{number:,}"
    if abs(number) < 10**_MAX_DIGITS and (abs(number) >= 10**6 - 0.5 or number == int(number)):
        return f"{number:,.0f}"
    return f"{number:,.6g}"


def format_range(minimum: float, maximum: float) -> tuple[str, str]:
    """Returns two numbers, with enough digits to distinguish 32-bit floats.

    >>> format_range(1, 2.5), format_range(0.99999994, 1.0)
    (('1', '2.5'), ('0.99999994', '1'))
    """
    texts = format_number(minimum), format_number(maximum)
    if minimum != maximum and texts[0] == texts[1]:
        return f"{minimum:,.{_FLOAT_DIGITS}g}", f"{maximum:,.{_FLOAT_DIGITS}g}"
    return texts


def format_size(num_bytes: int) -> str:
    """Returns a number of bytes in a unit in which it has up to four digits.

    >>> format_size(1), format_size(3 << 20)
    ('1 byte', '3.0 MiB')
    """
    if num_bytes < 1024:
        return "1 byte" if num_bytes == 1 else f"{num_bytes} bytes"
    size, unit = float(num_bytes), 0
    while size >= 1023.95 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}"


def format_share(count: int, total: int) -> str:
    """Returns a fraction as a percentage. It is "0%" or "100%" only if it is exactly that.

    >>> format_share(1, 1_000_000), format_share(999_999, 1_000_000), format_share(1, 3)
    ('<0.1%', '>99.9%', '33.3%')
    """
    if not total or count in (0, total):
        return "100%" if count else "0%"
    percent = 100 * count / total
    if percent < 0.1:
        return "<0.1%"
    return ">99.9%" if percent > 99.9 else f"{percent:.1f}%"
