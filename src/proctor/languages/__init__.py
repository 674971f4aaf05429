"""Languages, one declarative file each, and compiling programs in cells."""
