"""Small things that everything uses: time, rotations, texts, patterns of names."""
