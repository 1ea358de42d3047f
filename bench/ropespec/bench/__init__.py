"""What measures: the backends beside their peers, a graphics card, the suite, the oracle."""
