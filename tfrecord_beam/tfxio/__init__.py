"""Classes for users of TFXIO: the same names, arguments and results, read by this library.

This is the only place with methods in CamelCase. Import from the modules, as in
``from tfrecord_beam.tfxio import tf_example``.
"""
