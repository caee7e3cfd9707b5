"""Results of a frame come as a frame of the same kind."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import demur

KINDS = {"pandas": (pd.DataFrame, pd.DataFrame), "polars": (pl.DataFrame, pl.DataFrame)}
KINDS |= {"polars lazy": (lambda rows: pl.DataFrame(rows).lazy(), pl.DataFrame), "pyarrow": (pa.table, pa.Table)}
QUERIES = {"post_id": [1, 2], "criterion_id": ["A", "A"], "gold_ids": ["s1", ""], "r_topk": ["s1|s2", "s3"]}


@pytest.mark.parametrize("kind", KINDS)
def test_the_frame_is_of_the_kind_that_came_in(kind):
    make, expected = KINDS[kind]
    results = demur.evaluate_retrieval(demur.read_queries(make(QUERIES)), plan=demur.Plan(0, seed=None))
    assert isinstance(results.to_frame(), expected)
