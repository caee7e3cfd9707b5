"""The page of a calibration: its numbers and no others, and no text of a file obeyed."""

import base64
import gzip
import hashlib
import re

import pytest
from test_report import HOSTILE

from commands import demur
from demur.calibration import calibration_of, load_calibration
from demur.report.calibration.fitted import drawn_map
from demur.report.html import report_html
from demur.simulate import ZERO_SHOT, make_people, run_system
from kinds import calibration, renamed_kind
from pages import Page
from runs import written


class TestSafety:
    def test_hostile_texts_in_every_place_change_no_element_and_no_attribute(self):
        content, numbers = calibration().to_json(), {}

        def number(text):
            return numbers.setdefault(text, len(numbers))

        plain = self.skeleton(renamed_kind(content, lambda text: f"name{number(text)}"))
        for turn in range(0, 50, 7):
            texts = [*HOSTILE[turn:], *HOSTILE[:turn]]
            hostile = renamed_kind(content, lambda text, texts=texts: f"{number(text)}{texts[number(text) % 50]}")
            assert self.skeleton(hostile) == plain, texts[0]

    def skeleton(self, artifact):
        page = Page(report_html(artifact))
        return [(tag, [pair for pair in attributes if pair[0] != "href"]) for tag, attributes in page.elements]

    def test_nothing_is_fetched_and_every_text_that_is_shown_is_spelled_out(self):
        text = report_html(renamed_kind(calibration().to_json(), lambda text: f"{text}\u202e\u2028\x07"))
        assert not re.search("[\u202e\u2028\x07]", text)
        assert "\\u202e\\u2028\\x07" in text
        page = Page(text)
        assert not [name for name, _ in page.elements if name in ("link", "img", "iframe", "object", "embed", "base")]
        assert not page.values("src")
        assert all(link.startswith(("#", "data:application/gzip;base64,")) for link in page.values("href"))

    def test_the_page_carries_the_file(self):
        link = next(link for link in Page(report_html(calibration())).values("href") if link.startswith("data:"))
        assert gzip.decompress(base64.b64decode(link.partition(",")[2])).decode() == calibration().text


class TestCalibration:
    def test_all_numbers_of_the_validation_stand_in_a_table_and_which_to_trust_is_said(self):
        made, text = calibration(), Page(report_html(calibration())).text
        sides = (made.validation.as_given, made.validation.in_sample, made.validation.cross_validated)
        for name in ("nll", "brier", "ece", "auroc"):
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


def test_the_page_is_written_with_the_file_and_is_that_of_demur_report(tmp_path):
    run = run_system(make_people(30, seed=1), ZERO_SHOT, seed=1).to_json("few_shot", "train")
    written(tmp_path, run, "t.json")
    fitted = ("calibrate", "--input", "t.json", "--method", "platt", "--variant", "token_msp")
    made = demur(tmp_path, *fitted, "--output", "c.json", "--report", "c-1.html")
    assert made.stdout.endswith("wrote c.json\nwrote c-1.html\n")
    assert demur(tmp_path, "report", "c.json").stdout == "wrote c.html\n"
    file = tmp_path / "c.json"
    expected = report_html(load_calibration(file), sha256=hashlib.sha256(file.read_bytes()).hexdigest())
    assert (tmp_path / "c.html").read_text("utf-8") == (tmp_path / "c-1.html").read_text("utf-8") == expected
