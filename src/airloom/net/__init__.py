"""Sockets: where we listen, who may come in, TLS."""
