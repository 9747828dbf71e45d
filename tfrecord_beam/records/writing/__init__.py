"""Writes records to files that are complete or absent.

The modules of a write of many files, in the order in which data pass through them:

===========================================  ===================================================
options, names, start, folder                what is asked for, and whether that is allowed
inputs, elements, values, encoding, batches  tables and rows to batches, and these to frames
partitions, routing                          which file each record is for
bundle                                       the records of one worker to whole files, or to pieces
spill, segments, runs, shards                pieces of many files in one, and these to whole files
plan, publish                                what whole files are called and replace; their places
===========================================  ===================================================

`table` does all of it in one process, `tfrecord_beam.transforms.write` in a pipeline. A single file
is written by `writer`, `index` and `placing`. Below all of them are `frame_file`, `compression`,
`file_system`, `stores` and `retries`, and `tfrecord_beam.records.frames`.
"""
