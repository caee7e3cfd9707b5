"""Return of freed memory to the operating system."""

from contextlib import suppress


def give_back() -> None:
    """Return freed memory to the operating system; glibc keeps it otherwise. Other C libraries need nothing."""
    import ctypes  # noqa: PLC0415  (few evaluations are so large)

    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
