"""Projects a schema to the features that some tensors need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.schema.column_path import ColumnPath
from tfrecord_beam.schema.names import as_names, check_known
from tfrecord_beam.schema.representation_inference import (
    infer_tensor_representations_from_mixed_schema,
)
from tfrecord_beam.schema.representations import find_sources, set_tensor_representations


def project_tensor_representations(
    schema: schema_pb2.Schema, tensor_names: Iterable[str]
) -> schema_pb2.Schema:
    """Returns the schema of the named tensors: their representations and source features.

    Both explicit and inferred tensors can be named. All representations of the result are
    explicit, in its default group. Features keep the order of `schema`; of a STRUCT only the
    fields that are needed are kept.

    Args:
      schema: not modified.
      tensor_names: duplicates count once.

    Raises:
      SchemaError: a tensor does not exist, or its representation refers to a column that is not
        in the schema.
    """
    names = as_names(tensor_names, "tensors")
    representations = infer_tensor_representations_from_mixed_schema(schema)
    check_known(names, representations, "tensors")
    wanted = {name: representations[name] for name in names}
    paths = find_sources(wanted, schema)
    result = schema_pb2.Schema(feature=_cut_features(schema.feature, paths, ColumnPath(())))
    set_tensor_representations(result, wanted)
    return result


def _cut_features(
    features: Iterable[schema_pb2.Feature], paths: set[ColumnPath], parent: ColumnPath
) -> Iterator[schema_pb2.Feature]:
    for feature in features:
        path = parent.child(feature.name)
        if path in paths:
            yield feature
        elif any(longer.prefix(len(path)) == path for longer in paths):
            fields = list(_cut_features(feature.struct_domain.feature, paths, path))
            cut = schema_pb2.Feature()
            cut.CopyFrom(feature)
            del cut.struct_domain.feature[:]
            cut.struct_domain.feature.extend(fields)
            yield cut
