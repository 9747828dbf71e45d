"""Reports about data sets: summaries that merge, and the pages that show them."""
