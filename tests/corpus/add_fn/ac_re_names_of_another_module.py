# why: all names of a module do not have the one asked for among them
from collections import *
