"""What all experiments share: files by their content, so that results are kept by everything that they depend on."""
import functools
import hashlib
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


@functools.lru_cache(maxsize=None)
def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()
