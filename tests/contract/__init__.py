"""Tests of what users of the library may rely on, through its public names alone."""
