# why: a program without a Solution class is called by the function's name
def add(a, b):
    return a + b
