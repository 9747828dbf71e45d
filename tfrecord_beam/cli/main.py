"""The command line itself: verbs, exit codes, and how errors are shown."""

from __future__ import annotations

import argparse
import difflib
import functools
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import tfrecord_beam
from tfrecord_beam.cli import (
    convert,
    count,
    head,
    index,
    infer_schema,
    read,
    report,
    schema,
    schema_diff,
    verify,
)
from tfrecord_beam.cli.flags import describe_error
from tfrecord_beam.cli.output import (
    PROGRAM,
    finish_output,
    prepare_output,
    print_error,
    print_warning,
)
from tfrecord_beam.errors import TFRecordBeamError

_VERBS = (head, count, verify, index, schema, infer_schema, schema_diff, report, convert, read)

_EPILOG = """\
FILES are paths, patterns or folders; a folder means all files under it. Wildcards are *, ?, [ab],
[!ab] and, as a whole path component, **. Quote them, or the shell expands them. Compressed files
are recognized by their content.

Exit codes: 0 success; 1 verify or report found corrupt records or data that do not fit the schema,
or schema-diff found a difference; 2 an error; 130 interrupted.
"""


_CLOSE = 0.8
"""Minimum similarity of two names for one to count as a misspelling of the other; 1: identical."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code.

    Args:
      arguments: those after the program's name; None: those of this process.
    """
    verb_parser = None
    try:
        prepare_output()
        try:
            options = _parse(arguments)
            verb_parser = options.verb_parser
            with warnings.catch_warnings():
                warnings.showwarning = functools.partial(_show_warning, verb_parser)
                code: int = options.run(options)
            return code
        finally:
            sys.stdout.flush()  # so that a closed pipe or a full disk shows here
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the output has closed it
        return 141  # as if the signal SIGPIPE had ended the process
    except (TFRecordBeamError, OSError, ValueError) as error:
        print_error(describe_error(error, verb_parser))
        return 2
    finally:
        finish_output()


def _show_warning(
    parser: argparse.ArgumentParser, message: Warning | str, *_: Any, **__: Any
) -> None:
    warning = message if isinstance(message, Warning) else Warning(message)
    print_warning(describe_error(warning, parser))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Inspects and converts TFRecord files of tf.train.Example, and reads them with "
        "Apache Beam into Arrow record batches.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {tfrecord_beam.__version__}"
    )
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in _VERBS:
        verb.add_parser(verbs)
    options, others = parser.parse_known_args(arguments)
    verb_parser: argparse.ArgumentParser = options.verb_parser
    for word in others:
        if meant := _find_meant(word, verb_parser._option_string_actions):
            verb_parser.error(f"unrecognized arguments: {word} (did you mean {meant}?)")
    if others and not options.takes_pipeline_options:
        verb_parser.error(f"unrecognized arguments: {' '.join(others)}")
    options.pipeline_options = others
    return options


def _find_meant(word: str, known: Iterable[str]) -> str | None:
    """Returns the option that was probably meant; None if `word` may be an option of Beam.

    Beam ignores options that it does not know. None of its own is similar to one of the verbs'.
    """
    if not word.startswith("--"):
        return None
    names = {option.removeprefix("--"): option for option in known}
    name = word.removeprefix("--").partition("=")[0].replace("_", "-")
    close = difflib.get_close_matches(name, names, n=1, cutoff=_CLOSE)
    return names[close[0]] if close else None
