"""TFRecord files to files of other formats, and back."""
