"""Problem packages: directories with tests, checkers and labelled submissions."""
