"""The page of a calibration."""

from demur.report.calibration.fitted import calibration_name
from demur.report.sections import Kind, page_kind

page_kind(Kind(task="calibration", systems=calibration_name))
