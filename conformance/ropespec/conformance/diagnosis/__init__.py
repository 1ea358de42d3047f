"""Diagnosis by reproduction: what fails is measured, run as a program, and only then named."""
