print("length 5.0\n" * 200_000)
