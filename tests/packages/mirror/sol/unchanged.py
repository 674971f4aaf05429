# @check-wrong-answer: examples more-digits
# @check-accepted: one-digit


def mirror(x):
    return x
