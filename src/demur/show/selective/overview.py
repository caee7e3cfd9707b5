"""The section on methods and provenance."""

from demur.quantities import quantities
from demur.results.table import Results
from demur.show.names import shown_in_full, systems_of
from demur.show.sections import Content, carried, definition, section
from demur.show.statements import methods, population
from demur.show.statements.signatures import signatures
from demur.show.statements.warnings import warnings
from demur.show.table_rows import methods_shown


@section("methods", "Methods and provenance", task="selective", order=90)
def provenance(results: Results) -> Content:
    """The section on methods and provenance: populations, definitions, intervals, signatures, the embedded file."""
    from demur.show.tables import table_text  # noqa: PLC0415  (the console has no such table)

    study, failures = results.selective, population.failures(results)
    said = [population.population(results), population.not_in_all(results), *population.failed_units(results)]
    used = methods_shown(results)
    return {
        "population": [statement for statement in said if statement is not None],
        "failures": failures if len(results.systems) > 1 and failures.any else None,
        "facts": [methods.loss_used(results), *methods.conventions(results), methods.resampling(results)],
        "sources": [*zip(population.sources(results), study.inputs, strict=True)],
        "bins": [(*key, curve.bins) for key, curve in results.curves.items() if curve.bins],
        "counted": [*zip(systems_of(results), study.systems, strict=True)],
        "definitions": [*map(definition, quantities("curve", "definitions"))],
        "intervals": methods.intervals(results) if study.bootstrap else None,
        "methods": {methods.method_name(method): titles for method, titles in used.items()},
        "signatures": signatures(results),
        "latex": table_text(results, "latex") if shown_in_full(results) == study.confidences else "",
        "carried": carried(results, "metrics" if results.nested else "results", warnings(results)),
    }
