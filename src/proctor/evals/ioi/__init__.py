"""The IOI: a program for each subtask of each task."""
