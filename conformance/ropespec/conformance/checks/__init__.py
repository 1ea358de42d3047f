"""The checks, a module for each chapter; importing a module registers its checks."""
