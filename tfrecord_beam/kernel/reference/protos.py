"""The protobuf messages of this package, built at run time: no TensorFlow, no generated code.

Three sets, wire-compatible with each other:

* `Example`, `SequenceExample` and their parts as TensorFlow declares them
  (``core/example/example.proto`` and ``feature.proto``).
* `OutlineExample`, ... parse a record down to names and unparsed values; feature lists have the
  same form as features there.
* `ContentExample`, ... parse it down to values.

`ExampleList` is what TensorFlow Serving declares as ``ExampleListWithContext`` (``input.proto``).

Outline and content differ from TensorFlow's declarations where those would hide something:
``features`` and its map entries are repeated, and so are the parts of an outlined entry, so that
each occurrence is kept (a real map would also lose entries that contain unknown fields: upb, unlike
protobuf in C++, treats the whole entry as unknown); names are bytes, so that a name that is not
UTF-8 is not reported as a malformed message; floats are fixed32, so that no signaling NaN passes
through a Python float, which would make it quiet. The nesting depth is unchanged, so that
protobuf's depth limit applies to the same records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto

# Message -> fields, each `label type name = number`. "oneof" fields belong to the oneof `kind`;
# "map" fields have string keys.
_KINDS = (
    "oneof BytesList bytes_list = 1",
    "oneof FloatList float_list = 2",
    "oneof Int64List int64_list = 3",
)
_TENSORFLOW = {
    "BytesList": ["repeated bytes value = 1"],
    "FloatList": ["repeated float value = 1"],
    "Int64List": ["repeated int64 value = 1"],
    "Feature": _KINDS,
    "Features": ["map Feature feature = 1"],
    "FeatureList": ["repeated Feature feature = 1"],
    "FeatureLists": ["map FeatureList feature_list = 1"],
    "Example": ["optional Features features = 1"],
    "SequenceExample": ["optional Features context = 1", "optional FeatureLists feature_lists = 2"],
    "ExampleList": ["repeated Example examples = 1", "optional Example context = 2"],
}
_OUTLINE = {
    "Entry": ["repeated bytes key = 1", "repeated bytes value = 2"],
    "Features": ["repeated Entry feature = 1"],
    "FeatureList": ["repeated bytes feature = 1"],
    "Example": ["repeated Features features = 1", "repeated bytes feature_lists = 2"],
    "SequenceExample": ["repeated Features context = 1", "repeated Features feature_lists = 2"],
    "ExampleList": ["repeated Example examples = 1", "repeated Example context = 2"],
    "Envelope": ["repeated bytes first = 1", "repeated bytes second = 2"],
}
_CONTENT = {
    "BytesList": ["repeated bytes value = 1"],
    "FloatList": ["repeated fixed32 value = 1"],
    "Int64List": ["repeated int64 value = 1"],
    "Feature": _KINDS,
    "Entry": ["repeated bytes key = 1", "optional Feature value = 2"],
    "Features": ["repeated Entry feature = 1"],
    "Example": ["repeated Features features = 1"],
    "FeatureList": ["repeated Feature feature = 1"],
    "ListEntry": ["repeated bytes key = 1", "optional FeatureList value = 2"],
    "FeatureLists": ["repeated ListEntry feature = 1"],
    "SequenceExample": ["repeated Features context = 1", "repeated FeatureLists feature_lists = 2"],
    "ExampleList": ["repeated Example examples = 1", "repeated Example context = 2"],
}


def _declare_messages(package: str, messages: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Returns the message class of each name."""
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package}.proto", package=package, syntax="proto3"
    )
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field in fields:
            _add_field(message, f".{package}.", field)
    pool = descriptor_pool.DescriptorPool()  # Separate: TensorFlow may declare the same names.
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in messages
    }


def _add_field(message: descriptor_pb2.DescriptorProto, scope: str, declaration: str) -> None:
    label, type_name, name, _, number = declaration.split()
    field = message.field.add(name=name, number=int(number), label=_Field.LABEL_OPTIONAL)
    if label == "map":
        # Language guide, "Maps": encoded like repeated messages of a key and a value.
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        _add_field(entry, scope, "optional string key = 1")
        _add_field(entry, scope, f"optional {type_name} value = 2")
        label, type_name = "repeated", f"{message.name}.{entry.name}"
    if label == "repeated":
        field.label = _Field.LABEL_REPEATED
    if label == "oneof":
        if not message.oneof_decl:
            message.oneof_decl.add(name="kind")
        field.oneof_index = 0
    if type_name.islower():
        field.type = _Field.Type.Value(f"TYPE_{type_name.upper()}")
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = scope + type_name


_tensorflow = _declare_messages("tensorflow", _TENSORFLOW)
Feature = _tensorflow["Feature"]
FeatureLists = _tensorflow["FeatureLists"]
Example = _tensorflow["Example"]
SequenceExample = _tensorflow["SequenceExample"]
ExampleList = _tensorflow["ExampleList"]

_outline = _declare_messages("outline", _OUTLINE)
OutlineExample = _outline["Example"]
OutlineFeatures = _outline["Features"]
OutlineFeatureList = _outline["FeatureList"]
OutlineSequenceExample = _outline["SequenceExample"]
OutlineExampleList = _outline["ExampleList"]
Envelope = _outline["Envelope"]

_content = _declare_messages("content", _CONTENT)
ContentExample = _content["Example"]
ContentFeature = _content["Feature"]
ContentSequenceExample = _content["SequenceExample"]
ContentExampleList = _content["ExampleList"]
