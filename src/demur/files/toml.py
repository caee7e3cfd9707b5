"""TOML files, parsed by the standard library, with one-line errors."""

from typing import Any

from demur.errors import UserError


def parsed_toml(text: str) -> dict[str, Any]:
    """Parse a TOML file; a mistake is a `UserError` of one line.

    >>> parsed_toml("a = 1")
    {'a': 1}
    """
    import tomllib  # noqa: PLC0415  (few files are TOML)

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, and an integer of too many digits
        raise UserError(f"not valid TOML: {error}") from None
