"""Memory that was freed, but that the C library has kept for later."""

from contextlib import suppress


def give_back() -> None:
    """Return freed memory to the system. glibc keeps it, a heap for each thread; elsewhere nothing is done."""
    import ctypes  # noqa: PLC0415  (few evaluations are so large)

    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
