"""Diagnosis by reproduction: what fails is measured, run as a program, and only then named."""

from ropespec.conformance.diagnosis.diagnose import diagnose

__all__ = ["diagnose"]
