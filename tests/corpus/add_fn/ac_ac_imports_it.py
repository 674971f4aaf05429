# why: a program may import the function that it is asked for
from operator import add
