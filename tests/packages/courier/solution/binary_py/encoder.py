def encode(number: int) -> str:
    return format(number, "016b").replace("0", "a").replace("1", "b")
