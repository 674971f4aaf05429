"""The IOI pipeline: submissions of models, scored, resumed, added up."""
