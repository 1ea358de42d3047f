"""What shows a failure: the smallest input, the element that is off, and a script to run."""
