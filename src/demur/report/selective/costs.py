"""What an error and a silence cost: the cheapest threshold at each price of an abstention."""

from demur.report.costs import HEADINGS, cost_sentences, cost_table
from demur.report.names import systems_of
from demur.report.sections import Content, section
from demur.results.table import Results


@section("costs", "What an error and a silence cost", task="selective", order=60)
def costs(results: Results) -> Content | None:
    """Tables and sentences of every confidence; nothing where no price was asked for."""
    if not results.selective.abstention_costs:
        return None
    systems = systems_of(results)
    return {
        "headings": HEADINGS,
        "confidences": [
            {
                "sentences": [*cost_sentences(results, confidence)],
                "tables": [
                    (system, [row.cells for row in cost_table(results, system, confidence)]) for system in systems
                ],
            }
            for confidence in results.selective.confidences
        ],
    }
