"""Records to files: frames, files that are whole or not there, and where they go."""
