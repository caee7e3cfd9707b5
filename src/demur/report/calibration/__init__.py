"""The page of a calibration."""

from demur.report.calibration.fitted import calibration_name
from demur.report.sections import PageKind

PAGE = PageKind(task="calibration", systems=calibration_name)
