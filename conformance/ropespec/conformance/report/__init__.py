"""What a person, a script and a continuous integration get to see of a verdict."""
