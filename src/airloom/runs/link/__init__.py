"""The control link: other processes of the same user look at a running simulation and command it."""
