"""Tests of the kernel; those that take the `kernel` fixture run once with each."""
