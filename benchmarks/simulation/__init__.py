"""Simulation of judging on many nodes: the real queue, everything around it by measured times."""
