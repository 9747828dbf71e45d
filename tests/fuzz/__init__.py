"""A fuzzer of the native kernel: `run.sh` builds and runs it."""
