# @check-accepted: *


def mirror(x):
    return int(str(x)[::-1])
