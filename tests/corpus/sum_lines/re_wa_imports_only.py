# why: nothing but imports leaves upstream's wrapper function without a body
import math
import sys
