"""The built-in profile `timetable`: its input, its checkers, its skeleton."""
