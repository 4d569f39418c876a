"""What is wrong with a data set, before it costs a night of training: `earmark doctor`."""

from earmark.doctor.examination import Examination, examine
from earmark.doctor.findings import Finding

__all__ = ["Examination", "Finding", "examine"]
