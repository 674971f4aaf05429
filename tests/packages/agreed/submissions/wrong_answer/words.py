print("one and", input())
