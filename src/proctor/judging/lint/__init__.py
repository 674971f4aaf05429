"""Finding what a problem's author, or the maker of a data set, has missed."""
