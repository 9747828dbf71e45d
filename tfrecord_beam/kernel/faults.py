"""Turns what a kernel reports into the errors that users see: one text for both kernels."""

from __future__ import annotations

from collections.abc import Iterable

from tfrecord_beam.errors import DecodeError, EncodeError, Location, SchemaError, TFRecordBeamError
from tfrecord_beam.kernel.plan import (
    DecodeFailure,
    DecodeFault,
    DecodePlan,
    EncodeFailure,
    EncodeFault,
    EncodePlan,
    Kind,
)

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
    names = {column.name for column in plan.columns or ()}
    _check_distinct(column.name for column in plan.columns or ())
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


def encode_error(failure: EncodeFailure) -> TFRecordBeamError:
    """Returns the error for a batch that could not be encoded, located by the row."""
    feature = failure.feature.decode()
    if failure.fault == EncodeFault.UNSUPPORTED_TYPE:
        return SchemaError(
            f"Expected int64, float, bytes or lists of them for feature {feature!r}, "
            "found another Arrow type",
            Location(feature=feature),
        )
    if failure.fault == EncodeFault.NULL_VALUE:
        return null_value_error(failure.record, feature)
    return EncodeError(
        "Expected a record of less than 2 GiB, found a larger one",
        Location(record=failure.record),
    )


def null_value_error(record: int, feature: str) -> EncodeError:
    """Returns the error for a null among the values of a feature."""
    return EncodeError(
        f"Expected no null among the values of feature {feature!r}, found one",
        Location(record=record, feature=feature),
        hint="a row as a whole may be null",
    )


def check_encode_plan(plan: EncodePlan) -> None:
    """Raises SchemaError if features of `plan` have one name, or one that is not UTF-8."""
    for names in (plan.context, plan.feature_lists or ()):
        _check_distinct(names)
        for name in names:
            if not _is_encodable(name):
                raise SchemaError(f"Expected UTF-8 in the name of a column, found {name!r}")


def _check_distinct(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"Expected columns of different names, found {name!r} twice")
        seen.add(name)


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # A lone surrogate.
        return False
    return True
