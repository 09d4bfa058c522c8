"""Radio: what nodes send to one another, and the media that carry it, lose it and delay it."""
