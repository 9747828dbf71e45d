"""Turns what a kernel reports into the errors that users see: one text for both kernels."""

from __future__ import annotations

from tfrecord_beam.errors import DecodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import DecodeFailure, DecodeFault, DecodePlan, Kind

_NOT_EXAMPLE = "Expected a serialized tf.train.Example, found "


def decode_error(failure: DecodeFailure) -> DecodeError:
    """Returns the error for one record that could not be decoded, located by its index."""
    feature = None if failure.feature is None else failure.feature.decode("utf-8", "replace")
    fault = DecodeFault(failure.fault)
    hint = None
    if fault is DecodeFault.KIND_MISMATCH:
        expected, found = Kind(failure.expected).list_name, Kind(failure.found).list_name
        message = f"Expected {expected} for feature {feature!r}, found {found}"
    elif fault is DecodeFault.NAME_NOT_UTF8:
        message = "Expected UTF-8 in the name of a feature, found other bytes"
    elif fault is DecodeFault.FEATURE_LISTS:
        message = _NOT_EXAMPLE + "a message with field 2"
        hint = "a tf.train.SequenceExample or an ExampleListWithContext?"
    elif fault is DecodeFault.NESTED_EXAMPLE:
        message = _NOT_EXAMPLE + "messages nested in it"
        hint = "an ExampleListWithContext?"
    elif fault is DecodeFault.RAW_COLUMN_COLLISION:
        message = f"Expected no feature with the name of the raw-record column, found {feature!r}"
        hint = "choose another raw_record_column_name"
    elif fault is DecodeFault.NAME_WITH_NUL:
        message = f"Expected no NUL in the name of a feature, found {feature!r}"
        hint = "name the columns that you want"
    else:
        message = _NOT_EXAMPLE + "bytes that do not parse as one"
        hint = "are the records messages of another type, encrypted or compressed one by one?"
    return DecodeError(message, Location(record=failure.record, feature=feature), hint)


def check_plan(plan: DecodePlan) -> None:
    """Raises SchemaError if columns of `plan` cannot be told apart by their names in Arrow."""
    names: set[str] = set()
    for column in plan.columns or ():
        if column.name in names:
            raise SchemaError(f"Expected columns of different names, found {column.name!r} twice")
        names.add(column.name)
    for name in (*names, plan.raw_record_column or ""):
        # The Arrow C data interface takes UTF-8, up to the first NUL.
        if "\0" in name or not _is_encodable(name):
            raise SchemaError(f"Expected UTF-8 without NUL in the name of a column, found {name!r}")
    if plan.raw_record_column in names:
        raise SchemaError(
            "Expected no column with the name of the raw-record column, "
            f"found {plan.raw_record_column!r}",
            hint="choose another raw_record_column_name",
        )


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # A lone surrogate.
        return False
    return True
