"""What is said of groups where the core asks: how clusters were drawn, and for whom it is worse."""

from demur.features.groups.options import Groups
from demur.show.selective.decision import five_answers
from demur.show.statements.methods import resampling
from features.groups.grouped import evaluated, random_table


def test_clusters_are_said_to_be_drawn_within_strata():
    asked = Groups("site", stratify="site", min_clusters=2)
    results = evaluated(random_table(1), asked, {"site": "site"}, resamples=9)
    assert resampling(results).words == "9 bootstrap resamples of clusters within site, seed 1"
    assert resampling(evaluated(random_table(1), Groups(), {}, resamples=9)).words.endswith("of clusters, seed 1")


def test_groups_answer_for_whom_it_is_worse_and_items_do_without_them():
    results = evaluated(random_table(1), Groups("site", min_clusters=2), {"site": "site"}, resamples=9)
    (said,) = dict(five_answers(results))["For whom is it worse?"]
    assert said.words.startswith("by site: the risk is highest for ")
    unasked, items = dict(five_answers(evaluated(random_table(1), Groups(), {}, resamples=9)))["For whom is it worse?"]
    assert unasked.words == "no groups were given (--group)"
    assert items.words.startswith("items are compared if ")
