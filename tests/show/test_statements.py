"""Statements: typed values with their numbers, worded once, and the same words in every medium."""

import pkgutil
from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest

from artifacts import golden_results
from demur import report_html
from demur.show import statements
from demur.show.console import evaluation_text
from demur.show.latex import escaped as in_latex
from demur.show.markdown import escaped as in_markdown
from demur.show.statements.methods import Intervals, Resampling, loss_used, resampling
from demur.show.statements.population import Answered, Failures, Population, answered, population
from demur.show.statements.statement import Fact, Statement
from demur.show.statements.verdict import verdict
from demur.show.tables import table_text
from pages import Page
from parametrized import parametrize_few

for module in pkgutil.iter_modules(statements.__path__):
    import_module(f"{statements.__name__}.{module.name}")


def kinds(of=Statement):
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind is not Fact], ids=lambda kind: kind.__name__)
def test_every_statement_is_a_frozen_value(kind):
    assert is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    assert not {field.name for field in fields(kind)} & {"words", "sentence"}


@parametrize_few("name", ["one", "paired", "three"], 2)
def test_console_page_tables_and_paper_say_it_in_the_same_words(name):
    results = golden_results(name)
    console, page = evaluation_text(results), Page(report_html(results)).text
    latex, markdown, paper = (table_text(results, form) for form in ("latex", "markdown", "sentence"))
    for statement in (population(results), resampling(results)):
        assert statement.words in console
        assert statement.words in page
        assert in_latex(statement.words) in latex
        assert in_markdown(statement.words) in markdown
        assert statement.words in paper
    assert loss_used(results).line in console
    assert in_latex(loss_used(results).line) in latex
    assert in_markdown(loss_used(results).line) in markdown
    assert answered(results).words in console
    assert answered(results).words in page
    assert answered(results).words in paper
    found = verdict(results)
    for statement in (found.headline, *found.basis, *found.failures):
        assert statement.sentence in console
        assert statement.sentence in page


def test_numbers_and_nouns_agree():
    assert Population("post", 1, 1, 0).words == "1 post with 1 item (none failed)"
    assert Population("post", 2, 5, 1).words == "2 posts with 5 items (1 more failed and is excluded)"
    assert Population("post", 2, 5, 2).words == "2 posts with 5 items (2 more failed and are excluded)"
    assert Answered(4, (("a", 1), ("b", 4))).sentence == "a answers 1 of 4 items (25.0%) and b 4 (100.0%)."
    assert Failures("post", 40, (("a", 0), ("b", 4))).words == "a failed on 0 and b on 4 of 40 posts"
    assert Failures("post", 40, (("a", 0), ("b", 5))).often
    assert Resampling(9, 7, "post").words == "9 bootstrap resamples of posts, seed 7"
    assert Resampling(0, 0, "post").sentence == "Nothing was resampled, so there are no intervals."
    assert Intervals("95 % interval", ("t_interval",)).words == "in brackets the 95 % interval (t interval)"
