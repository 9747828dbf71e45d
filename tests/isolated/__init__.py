"""Scripts that tests run in an interpreter of their own."""
