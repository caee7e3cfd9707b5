"""The page and the console text of a calibration: every number of the file, and which of them to trust."""

import pytest

from demur.calibration import calibration_of
from demur.fitting import QUALITY
from demur.report.calibration.fitted import drawn_map
from demur.report.console import calibration_text
from demur.report.html import report_html
from demur.strict_model import WordedWarning
from kinds import calibration
from pages import Page


class TestCalibration:
    def test_all_numbers_of_the_validation_stand_in_a_table_and_which_to_trust_is_said(self):
        made, text = calibration(), Page(report_html(calibration())).text
        sides = (made.validation.as_given, made.validation.in_sample, made.validation.cross_validated)
        for name in QUALITY:
            assert f"{name} {' '.join(f'{getattr(one, name):.4f}' for one in sides)} " in text
        assert "Trust the numbers out of 5 folds" in text

    def test_what_was_not_tried_on_others_is_not_to_be_trusted(self):
        content = calibration().to_json()
        content["validation"] |= {"cross_validated": None, "reason": "3 participants, fewer than folds"}
        text = Page(report_html(calibration_of(content))).text
        assert "Trust none of these on new participants" in text
        assert "(3 participants, fewer than folds)" in text

    def test_the_drawn_map_goes_through_the_knots(self):
        model, drawn = calibration().model, drawn_map(calibration())
        assert [*drawn.rows] == [(f"{x:.6g}", f"{y:.4g}") for x, y in zip(model.x, model.y)]
        assert drawn.svg.count("<circle") == len(model.x)

    def test_the_map_of_one_input_is_drawn_whatever_the_method_and_of_two_it_is_not(self):
        spoken = drawn_map(calibration("temperature", ("verbalized_confidence",)))
        assert (spoken.rows[0][0], spoken.rows[5], spoken.rows[-1][0]) == ("1", ("3", "0.5"), "5")
        assert drawn_map(calibration("platt", ("token_msp",))) is not None
        both = calibration("logistic", ("token_msp", "verbalized_confidence"))
        assert drawn_map(both) is None
        page = Page(report_html(both))
        assert "map" not in page.values("id")
        assert f"coefficient {both.model.coefficients[1]:.6g} of" in page.text

    @pytest.mark.parametrize("knots", [[-1e308, 1e308], [0.5], [0.0, 5e-324]])
    def test_knots_at_the_ends_of_what_numbers_can_be_are_drawn_or_left_out(self, knots):
        content = calibration().to_json()
        content["model"] |= {"x": knots, "y": [0.25] * len(knots)}
        assert "What was fitted" in Page(report_html(calibration_of(content))).text

    def test_warnings_are_shown_on_the_page_and_on_the_console(self):
        warning = WordedWarning(code="merged", message="two inputs become one", where="token_msp")
        warned = calibration().model_copy(update={"warnings": (warning,)})
        assert "token_msp: two inputs become one (merged)" in Page(report_html(warned)).text
        assert calibration_text(warned).splitlines()[-1] == "warning (merged, token_msp): two inputs become one"

    def test_the_console_has_the_numbers_of_the_page(self):
        fitted = calibration()
        lines = {line[:9].strip(): line.split()[-4:] for line in calibration_text(fitted).splitlines()}
        for name, side in (("as given", fitted.validation.as_given), ("in sample", fitted.validation.in_sample)):
            assert lines[name] == [f"{getattr(side, one):.4f}" for one in QUALITY]
