"""Turns the failures that a kernel reports into exceptions: the same text for both kernels."""

from __future__ import annotations

from collections.abc import Iterable

from tfrecord_beam.errors import DecodeError, EncodeError, Location, SchemaError, TFRecordBeamError
from tfrecord_beam.kernel.plan import (
    Column,
    DecodeFailure,
    DecodeFault,
    DecodePlan,
    EncodeFailure,
    EncodeFault,
    EncodePlan,
    Kind,
    RecordType,
    SequenceDecodePlan,
)
from tfrecord_beam.options import check_distinct

_MESSAGES: dict[RecordType, str] = {
    "Example": "a serialized tf.train.Example",
    "SequenceExample": "a serialized tf.train.SequenceExample",
    "ExampleListWithContext": "a serialized ExampleListWithContext",
}


def decode_error(failure: DecodeFailure, record_type: RecordType = "Example") -> DecodeError:
    """Returns the error for one record that could not be decoded, located by its index."""
    feature = None if failure.feature is None else failure.feature.decode("utf-8", "replace")
    fault = DecodeFault(failure.fault)
    noun = "sequence feature" if failure.in_sequence else "feature"
    message = _MESSAGES[record_type]
    hint = None
    if fault is DecodeFault.KIND_MISMATCH:
        expected, found = Kind(failure.expected).list_name, Kind(failure.found).list_name
        text = f"Expected {expected} for {noun} {feature!r}, found {found}"
    elif fault is DecodeFault.NAME_NOT_UTF8:
        text = f"Expected UTF-8 in the name of a {noun}, found other bytes"
    elif fault is DecodeFault.FEATURE_LISTS:
        text = f"Expected {message}, found a message with field 2"
        hint = (
            "for a tf.train.SequenceExample or an ExampleListWithContext say so: "
            "record_type='SequenceExample' or record_type='ExampleListWithContext'"
        )
        if record_type == "ExampleListWithContext":
            text = f"Expected {message}, found a list of messages with field 2"
            hint = None
    elif fault is DecodeFault.NESTED_EXAMPLE:
        text = f"Expected {message}, found messages nested in it"
        hint = "for an ExampleListWithContext say so: record_type='ExampleListWithContext'"
    elif fault is DecodeFault.RAW_COLUMN_COLLISION:
        text = f"Expected no feature with the name of the raw-record column, found {feature!r}"
        hint = "choose another raw_record_column_name"
    elif fault is DecodeFault.SEQUENCE_COLUMN_COLLISION:
        text = f"Expected no feature with the name of the sequence column, found {feature!r}"
        hint = "name the columns that you want"
    elif fault is DecodeFault.NAME_WITH_NUL:
        text = f"Expected no NUL in the name of a {noun}, found {feature!r}"
        hint = "name the columns that you want"
    else:
        text = f"Expected {message}, found bytes that do not parse as one"
        hint = "are the records messages of another type, encrypted or compressed one by one?"
    return DecodeError(text, Location(record=failure.record, feature=feature), hint)


def check_plan(plan: DecodePlan | SequenceDecodePlan) -> None:
    """Raises SchemaError if columns of `plan` lack distinct names that Arrow can represent."""
    names = _check_names(plan.columns or ())
    if isinstance(plan, SequenceDecodePlan):
        _check_names(plan.sequence_columns or ())
        _check_name(plan.sequence_column_name)
        if plan.sequence_column_name in names:
            raise SchemaError(
                "Expected no column with the name of the sequence column, "
                f"found {plan.sequence_column_name!r}"
            )
        names.add(plan.sequence_column_name)
    if plan.raw_record_column is None:
        return
    _check_name(plan.raw_record_column)
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
        hint="a row as a whole may be null; writers take null_values='drop' or 'fill'",
    )


def check_encode_plan(plan: EncodePlan) -> None:
    """Raises SchemaError if names of features in `plan` are not distinct, or not UTF-8."""
    for names in (plan.context, plan.feature_lists or ()):
        check_distinct(names, "columns")
        for name in names:
            if not _is_encodable(name):
                raise SchemaError(f"Expected UTF-8 in the name of a column, found {name!r}")


def _check_names(columns: Iterable[Column]) -> set[str]:
    """Returns the names of columns of one struct."""
    names = [column.name for column in columns]
    check_distinct(names, "columns")
    for name in names:
        _check_name(name)
    return set(names)


def _check_name(name: str) -> None:
    # The Arrow C data interface takes UTF-8, up to the first NUL.
    if "\0" in name or not _is_encodable(name):
        raise SchemaError(f"Expected UTF-8 without NUL in the name of a column, found {name!r}")


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # A lone surrogate.
        return False
    return True
