"""The options of costs in Python: what is refused."""

import pytest

from demur import Costs, UserError, evaluate

TABLE = {"cluster": ["a", "b"], "loss": [1.0, 0.0], "sure": [0.9, 0.7]}


def test_folds_need_a_price():
    with pytest.raises(UserError, match=r"^cross_fit is for costs: give a price, Costs\('1:10'\)$"):
        Costs(cross_fit=5)


def test_they_are_given_once():
    with pytest.raises(UserError, match="^Costs is given twice: give one with all of them$"):
        evaluate(TABLE, Costs("0.1"), Costs("0.2"))
