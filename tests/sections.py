"""Options by their names, as Python, the command line and `demur.toml` take them in their sections."""

import json

import demur
from demur.options import declared, flag_of, sections

SECTIONS = sections()
FEATURES = {"groups": "labels", "raters": "raters", "costs": "prices", "conventions": "names"}


def by_section(options):
    """Options by the section that has each; `labels`, `raters`, `prices` and `names` are what a feature is of."""
    sorted_out = {}
    for name, value in options.items():
        home = "columns" if name == "columns" else next(key for key, of in SECTIONS.items() if name in declared(of))
        sorted_out.setdefault(home, {})[name] = value
    return sorted_out


def evaluate(data, *features, **options):
    """An evaluation with options of any section by their names alone."""
    given = by_section(options)
    made = []
    for name, own in FEATURES.items():
        if name in given:
            main = given[name].pop(own, ())
            of = main if isinstance(main, (list, tuple)) else [main]
            made.append(SECTIONS[name](*of, **given[name]))
    others = {name: SECTIONS[name](**given[name]) for name in ("reading", "settings", "plan") if name in given}
    return demur.evaluate(data, *features, *made, **others, **given.get("columns", {}))


def words(options):
    """The same options as they are typed."""
    for name, value in options.items():
        flag = flag_of(name)
        if value is True:
            yield flag
        elif isinstance(value, dict):
            for key, column in value.items():
                yield from (flag, f"{key}={_typed(column)}")
        elif isinstance(value, list):
            for each in value:
                yield from (flag, str(each))
        else:
            yield from (flag, ":".join(map(str, value)) if isinstance(value, tuple) else str(value))


def _typed(column):
    return column if isinstance(column, str) else f"{column[0]}:{','.join(map(str, column[1]))}"


def toml(options):
    """The same options as a `demur.toml`."""
    lines = []
    for name, values in by_section(options).items():
        lines.append(f"[{name}]")
        for key, value in values.items():
            own = isinstance(value, dict) and key in ("columns", "labels", "raters")
            pairs = value.items() if own else [(key, value)]
            lines += [f"{json.dumps(one)} = {_literal(each)}" for one, each in pairs]
    return "\n".join(lines)


def _literal(value):
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {_literal(each)}' for key, each in value.items())}}}"
    return json.dumps(value)
