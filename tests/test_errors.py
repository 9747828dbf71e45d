"""The errors: their grammar, their places, and that they survive a trip to another process."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from tfrecord_beam import errors
from tfrecord_beam.errors import (
    CorruptRecordError,
    CoverageError,
    DecodeError,
    Location,
    MissingLibraryError,
    NoMatchError,
    SchemaError,
    TFRecordBeamError,
    render,
)

CLASSES = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, TFRecordBeamError)
]

every_class = pytest.mark.parametrize("error_class", CLASSES, ids=lambda cls: cls.__name__)

PLACE = Location("gs://bucket/train-003.tfrecord", 1048576, 12, "age")
MESSAGE = "Expected int64_list, found bytes_list"
HINT = "is the schema of another version?"


@pytest.mark.parametrize(
    ("location", "hint", "text"),
    [
        (Location(), None, "Found it"),
        (Location(file="a"), None, "Found it - at a"),
        (Location(file="a", offset=0), None, "Found it - at a:0"),
        (Location(offset=52), None, "Found it - at offset 52"),
        (Location(record=0), None, "Found it - at record 0"),
        (Location(file="a", record=3), None, "Found it - at a, record 3"),
        (Location(file="a", offset=52, record=1), None, "Found it - at a:52, record 1"),
        (Location(offset=52, record=1), None, "Found it - at offset 52, record 1"),
        (Location("a.csv", 52, line=3), None, "Found it - at a.csv:52, line 3"),
        (Location(feature="age"), None, "Found it - at feature 'age'"),
        (Location("a", 52, 1, "x y"), None, "Found it - at a:52, record 1, feature 'x y'"),
        (Location(), "look again", "Found it (look again)"),
        (Location("a", 52, 1), "skip it", "Found it - at a:52, record 1 (skip it)"),
    ],
)
def test_grammar(location: Location, hint: str | None, text: str) -> None:
    assert render("Found it", location, hint) == text


def test_feature_in_the_message_is_not_repeated() -> None:
    message = "Expected int64_list for feature 'age', found bytes_list"
    assert render(message, Location(record=1, feature="age")) == f"{message} - at record 1"


@every_class
def test_parts_stay_on_the_error(error_class: type[TFRecordBeamError]) -> None:
    error = error_class(MESSAGE, PLACE, HINT)
    assert (error.message, error.location, error.hint) == (MESSAGE, PLACE, HINT)
    assert (error.file, error.offset, error.record, error.feature) == (
        "gs://bucket/train-003.tfrecord",
        1048576,
        12,
        "age",
    )
    assert str(error) == (
        "Expected int64_list, found bytes_list - at gs://bucket/train-003.tfrecord:1048576, "
        "record 12, feature 'age' (is the schema of another version?)"
    )


@every_class
def test_message_alone(error_class: type[TFRecordBeamError]) -> None:
    error = error_class(MESSAGE)
    assert str(error) == MESSAGE
    assert (error.location, error.hint) == (Location(), None)


@every_class
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    ("location", "hint"), [(PLACE, HINT), (PLACE, None), (Location(), HINT), (Location(), None)]
)
def test_pickle(
    error_class: type[TFRecordBeamError], protocol: int, location: Location, hint: str | None
) -> None:
    """Beam sends errors from workers to the runner, and corrupt records as values."""
    error = error_class(MESSAGE, location, hint)
    for copied in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error)):
        assert type(copied) is error_class
        assert (copied.message, copied.location, copied.hint) == (MESSAGE, location, hint)
        assert str(copied) == str(error)


@every_class
def test_located(error_class: type[TFRecordBeamError]) -> None:
    error = error_class(MESSAGE, Location(record=12, feature="age"), HINT)
    located = error.located(file="a.tfrecord", offset=52)
    assert type(located) is error_class
    assert located.location == Location("a.tfrecord", 52, 12, "age")
    assert (located.message, located.hint) == (MESSAGE, HINT)
    assert located.located(record=None).location == Location("a.tfrecord", 52, None, "age")
    assert error.location == Location(record=12, feature="age")


def test_located_knows_the_parts_of_a_location() -> None:
    with pytest.raises(TypeError):
        DecodeError(MESSAGE).located(column="age")


@pytest.mark.parametrize(
    ("error_class", "bases"),
    [
        (CorruptRecordError, {ValueError}),
        (DecodeError, {ValueError}),
        (SchemaError, {ValueError}),
        (NoMatchError, {OSError, FileNotFoundError}),
        (CoverageError, set()),
        (MissingLibraryError, {ImportError, ModuleNotFoundError}),
    ],
)
def test_what_else_an_error_is(error_class: type[Exception], bases: set[type]) -> None:
    """Callers that know nothing of this library catch what they would expect."""
    assert issubclass(error_class, TFRecordBeamError)
    builtins: tuple[type, ...] = (
        ValueError,
        OSError,
        FileNotFoundError,
        ImportError,
        ModuleNotFoundError,
    )
    assert {base for base in builtins if issubclass(error_class, base)} == bases


@every_class
def test_no_error_claims_an_errno(error_class: type[TFRecordBeamError]) -> None:
    """An OSError has `errno`, `strerror` and `filename`: they are not parts of our message."""
    error = error_class(MESSAGE, PLACE, HINT)
    if isinstance(error, OSError):
        assert (error.errno, error.strerror, error.filename) == (None, None, None)


def test_locations_compare_by_value() -> None:
    assert Location("a", 52) == Location(file="a", offset=52)
    assert len({Location("a", 52), Location("a", 52), Location("a", 53)}) == 2


@every_class
@pytest.mark.parametrize(
    ("location", "hint"), [(PLACE, HINT), (PLACE, None), (Location(), HINT), (Location(), None)]
)
def test_parts_stay_on_the_error_that_beam_makes_of_it(
    error_class: type[TFRecordBeamError], location: Location, hint: str | None
) -> None:
    """Beam makes it anew of its `args`, with the name of the step behind the first of them."""
    error = error_class(MESSAGE, location, hint)
    step = " [while running 'Read [a]/Decode']"
    again = error_class(error.args[0] + step, *error.args[1:])
    for copied in (again, pickle.loads(pickle.dumps(again)), copy.copy(again)):
        assert (copied.message, copied.location, copied.hint) == (MESSAGE, location, hint)
        assert str(copied) == str(error) + step
    located = again.located(file="b")
    assert (located.message, located.location.file) == (MESSAGE, "b")
