"""Reports about data sets: summaries that can be merged, and the pages that show them."""
