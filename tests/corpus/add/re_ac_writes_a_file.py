# why: a working file is a right program's business; in standard mode it gets a directory for it
# upstream: ac, an escape: the file stays on the machine that judges
# landlock: re
with open("numbers", "w") as file:
    file.write(input())
with open("numbers") as file:
    print(sum(map(int, file.read().split())))
