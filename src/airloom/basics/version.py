"""Which Airloom this is. The one place for it: the wheel, `airloom --version`, logs and summaries take it from here."""

VERSION = "0.1.0"
