"""Arrow arrays, batches and column paths, under the names that TFXIO users know."""
