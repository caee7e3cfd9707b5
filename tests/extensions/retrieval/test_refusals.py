"""Values and columns that rankings refuse, in the words of all readers."""

import pandas as pd
import pytest

from demur import UserError, rankings_of, read_queries

QUERY = {"post_id": [1], "criterion_id": [1], "gold_ids": [[]], "ranked_ids": [[]]}


def test_a_message_says_that_no_double_holds_the_number():
    integer = "; no double holds this integer$"
    with pytest.raises(UserError, match=f"prob an integer of very many digits, expected a number{integer}"):
        read_queries({**QUERY, "prob": [10**400]})
    with pytest.raises(UserError, match=f"score an integer of very many digits, .*{integer}"):
        rankings_of([["a"]], [["a"]], scores=[[10**400]])


@pytest.mark.parametrize("library", [dict, pd.DataFrame])
def test_two_columns_with_one_name_as_text_are_refused(library):
    message = "the columns 1 and '1' have the same name as text: give each a name of its own"
    with pytest.raises(UserError, match=message):
        read_queries(library({**QUERY, 1: [1], "1": [3]}))
