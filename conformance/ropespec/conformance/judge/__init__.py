"""The judge: exact values, error budgets and precision classes (chapter `judging`)."""
