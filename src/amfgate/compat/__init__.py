"""Other libraries' names over this one, for programs that were written for them: `amfgate.compat.pyamf`."""
