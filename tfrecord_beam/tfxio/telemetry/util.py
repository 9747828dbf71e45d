"""Namespaces of Beam metrics, under the names that TFXIO users know."""

from __future__ import annotations

from collections.abc import Sequence

from tfrecord_beam.options import check_instance, check_list


def MakeTfxNamespace(descriptors: Sequence[str]) -> str:
    """Returns the namespace of a component's metrics.

    >>> MakeTfxNamespace(["my", "component"])
    'tfx.my.component'

    Raises:
      ValueError: the descriptors are not a list.
    """
    return AppendToNamespace("tfx", descriptors)


def AppendToNamespace(namespace: str, descriptors_to_append: Sequence[str]) -> str:
    """Returns a namespace within another one.

    Raises:
      ValueError: the namespace is not a str, or the descriptors are not a list.
    """
    check_instance("namespace", namespace, str)
    check_list("telemetry_descriptors", descriptors_to_append)
    return ".".join([namespace, *map(str, descriptors_to_append)])
