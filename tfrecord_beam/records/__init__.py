"""Files of records: names, codecs, blocks of records, and back."""
