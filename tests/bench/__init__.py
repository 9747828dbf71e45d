"""Benchmarks. See README.md: they are scripts to run, not tests."""
