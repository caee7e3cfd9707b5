"""Whose definition a number follows: the signature that says it, other tools' definitions, and the bridges between."""
