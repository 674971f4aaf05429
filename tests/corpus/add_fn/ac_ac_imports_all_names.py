# why: a program may import it with all names of a module
from operator import *
