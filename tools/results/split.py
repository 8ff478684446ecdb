"""Which rows of a measured table may be used to derive parameters, and which are kept as a check: one rule for all tables.

A row has a name, made of the fields that identify it. Half of all names, by a fixed hash, are kept as a check: nothing may
be derived from their rows.
"""


def fnv1a(text):
    """The 64-bit FNV-1a hash of a text."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def is_check(name):
    """Whether the row of this name is kept as a check: its hash is odd."""
    return fnv1a(name) % 2 == 1
