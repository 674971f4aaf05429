import sys

from decoder import decode
from encoder import encode

if sys.argv[1] == "0":
    with open(sys.argv[2], "w") as file:
        file.write(encode(int(input())) + "\n")
else:
    with open(sys.argv[2]) as file:
        message = file.read().strip()
    print(decode(message) if len(message) <= 16 and not message.strip("ab") else "not a message")
