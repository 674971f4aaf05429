"""Contest judging: compiled programs, checkers, interactors, managers, subtasks."""
