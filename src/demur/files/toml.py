"""TOML: parsed by the standard library, with one line for whatever is wrong."""

from typing import Any

from demur.errors import UserError


def parsed_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML file.

    >>> parsed_toml("a = 1")
    {'a': 1}
    """
    import tomllib  # noqa: PLC0415  (only a TOML file pays for it)

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError, and so is too long an integer
        raise UserError(f"not valid TOML: {error}") from None
