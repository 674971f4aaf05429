def decode(message: str) -> int:
    return int(message.replace("a", "0").replace("b", "1"), 2)
