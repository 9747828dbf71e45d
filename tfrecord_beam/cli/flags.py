"""Adapts error texts: options are named as on the command line, not as in Python."""

from __future__ import annotations

import argparse
import re

from tfrecord_beam.errors import Location, TFRecordBeamError, render

_OTHERS = {
    "file_pattern": "FILES",
    "infer_shape": "--shape",
    "on_conflict='drop'": "--drop-conflicts",
}
"""Options whose name differs from the attribute in which the parser stores them."""

_NAME = re.compile(
    r"(?<![\w'\"/.=-])"  # not in a path, or the name of a column
    r"(?:(?P<name>[a-z_]+)(?:='(?P<value>\w+)'|(?= to be ))|(?P<long>[a-z]+_[a-z_]+)(?![\w'\"/.=]))"
)
"""An option with a value, an option followed by "to be", or a name with an underscore."""


def describe_error(error: Exception, parser: argparse.ArgumentParser | None = None) -> str:
    """Returns the text of an error. Omits a hint about an option that the verb does not have.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--to", dest="target_format"), parser.add_argument("--mode")
    >>> describe_error(ValueError("give target_format, or mode='append'"), parser)
    'give --to, or --mode append'

    Args:
      error: from the library or the operating system.
      parser: of the verb; None: it is not known yet.
    """
    if isinstance(error, OSError) and not isinstance(error, TFRecordBeamError) and error.filename:
        return render(str(error.strerror), Location(str(error.filename)))
    actions = [] if parser is None else parser._actions
    flags = {each.dest: each.option_strings[-1] for each in actions if each.option_strings}

    def rename(found: re.Match[str]) -> str:
        flag = flags.get(found["name"] or found["long"])
        if flag is None:
            return _OTHERS.get(found[0], found[0])
        return flag if found["value"] is None else f"{flag} {found['value']}"

    text = str(error)
    hint = error.hint if isinstance(error, TFRecordBeamError) else None
    if hint is not None and any(rename(found) == found[0] for found in _NAME.finditer(hint)):
        text = text.replace(f" ({hint})", "")
    return _NAME.sub(rename, text)
