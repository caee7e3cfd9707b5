"""Applying a calibration to a run: by its features, by its variant, and what it refuses."""

import numpy as np
import pytest

from demur import UserError, calibrate, confidence, grade, reliability, served
from demur.confidences.serving import chosen
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from runs import items_of

V = "verbalized_confidence"


@pytest.fixture(scope="module")
def items():
    return run_system(make_people(80, seed=1), ZERO_SHOT, seed=1).items()


class TestApplied:
    def test_by_features_by_variant_and_verbalized(self, items):
        temperature = calibrate(items, method="temperature", features=[V])
        assert chosen(items, "all", temperature)[0].keys() >= {"calibrated", "verbalized_calibrated"}
        both = [confidence(items, name, temperature).values for name in ("calibrated", "verbalized_calibrated")]
        spoken = (items.signals[V].values - 1) / 4
        clipped = np.clip(spoken, 1e-6, 1 - 1e-6)
        by_hand = 1 / (1 + np.exp(-np.log(clipped / (1 - clipped)) / temperature.model.temperature))
        for values in both:
            assert values[items.answered] == pytest.approx(by_hand[items.answered], rel=1e-12)
        assert np.isnan(both[0][~items.answered]).all()

    def test_a_calibration_of_a_variant_serves_that_variant(self, items):
        platt = calibrate(items, method="platt", variant="token_pe")
        made = confidence(items, "calibrated:token_pe", platt)
        plain = confidence(items, "token_pe").values[items.answered]
        assert made.values[items.answered].tolist() == platt.model(plain).tolist()
        reasons = served(items, platt)
        assert reasons["calibrated:token_pe"] is None
        fitted = "the calibration given is platt fitted on the variant token_pe"
        assert reasons["calibrated"] == f"{fitted}: ask for calibrated:token_pe"
        assert reasons["verbalized_calibrated"].startswith(f"{fitted}; it takes temperature_scaling")
        with pytest.raises(UserError, match="calibrated:llm: the calibration given is platt .* serves nothing else"):
            confidence(items, "calibrated:llm", platt)
        combined = confidence(items, "secondary:calibrated:token_pe+token_pe:average", platt).values[items.answered]
        assert combined == pytest.approx((made.values[items.answered] + plain) / 2, abs=1e-12)

    def test_verbalized_calibrated_is_a_temperature_on_what_was_said(self, items):
        by_variant = calibrate(items, method="temperature", variant="verbalized")
        by_signal = calibrate(items, method="temperature", features=[V])
        values = [confidence(items, "verbalized_calibrated", one).values for one in (by_variant, by_signal)]
        assert np.array_equal(*values, equal_nan=True)
        for other in ({"method": "platt", "features": [V]}, {"method": "temperature", "features": ["token_msp"]}):
            with pytest.raises(UserError, match="it takes temperature_scaling fitted on verbalized_confidence"):
                confidence(items, "verbalized_calibrated", calibrate(items, **other))

    def test_a_run_without_answers_has_nothing_to_calibrate_but_is_served(self, items):
        logistic = calibrate(items, method="logistic", features=["token_msp", V])
        silent = items_of({"token_msp": 0.5, V: 3, "prediction": None})
        assert served(silent, logistic)["calibrated"] is None
        assert np.isnan(confidence(silent, "calibrated", logistic).values).all()

    def test_a_calibration_is_called_by_name(self, items):
        logistic = calibrate(items, method="logistic", features=["token_msp", V])
        with pytest.raises(UserError, match=f"the calibration needs {V}, which is missing"):
            logistic({"token_msp": np.array([0.5])})

    def test_what_was_given_is_scored_where_it_is_a_probability(self, items):
        similar = calibrate(items, method="temperature", features=["retrieval_similarity_mean"]).validation
        assert similar.as_given.brier > similar.in_sample.brier
        assert calibrate(items, method="platt", features=["retrieval_similarity_mean"]).validation.as_given is None
        below = items_of({"retrieval_similarity_mean": -0.5}, {"retrieval_similarity_mean": 0.5, "prediction": 1})
        with pytest.raises(
            UserError, match="cluster 1, q: retrieval_similarity_mean -0.5, expected a number from 0 to 1"
        ):
            calibrate(below, method="temperature", features=["retrieval_similarity_mean"])
        with pytest.raises(
            UserError, match="cluster 1, q: retrieval_similarity_mean -0.5, expected a number from 0 to 1"
        ):
            reliability("retrieval_similarity_mean", data=below)

    def test_a_composite_variant_can_be_calibrated(self, items):
        name = "secondary:token_msp+consistency:average"
        platt = calibrate(items, method="platt", variant=name)
        assert confidence(items, f"calibrated:{name}", platt).name == f"calibrated:{name}"

    def test_a_feature_the_run_lacks_is_refused_by_name(self, items):
        logistic = calibrate(items, method="logistic", features=["token_msp", "token_pe"])
        other = items_of({"token_msp": 0.5, "llm_evidence_count": 1})
        with pytest.raises(UserError, match="calibrated: cluster 1, q: token_pe is missing; this run can serve: llm, "):
            confidence(other, "calibrated", logistic)

    def test_a_feature_of_a_new_run_that_is_null(self, items):
        logistic = calibrate(items, method="logistic", features=["token_msp", V])
        found = confidence(items_of({"token_msp": None, V: None}), "calibrated", logistic)
        assert found.nulls_filled == {"token_msp": 1, V: 1}
        assert found.values[0] == logistic.model({"token_msp": [0.0], V: [3.0]})[0]

    def test_a_variant_out_of_range_in_a_new_run(self, items):
        temperature = calibrate(items, method="temperature", features=["retrieval_similarity_mean"])
        with pytest.raises(UserError, match="calibrated: probability 1.5 at position 0, expected"):
            confidence(items_of({"retrieval_similarity_mean": 1.5}), "calibrated", temperature)

    def test_confidences_given_as_numbers_take_no_calibration(self, items):
        platt = calibrate(items, method="platt", variant="token_pe")
        with pytest.raises(UserError, match="a calibration goes with the name of a variant"):
            grade(items, loss="abs", confidence=np.zeros(len(items)), calibration=platt)
        made = confidence(items, "calibrated:token_pe", platt)
        assert grade(items, loss="abs", confidence=made).made_of is made
