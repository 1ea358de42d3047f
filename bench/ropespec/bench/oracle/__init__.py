"""The oracle of the judge against mpmath."""
