"""What this machine calls itself: who listens on anything else can be reached from outside, and asks for a token."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
