# title: Pseudo-terminals, of which the machine has a limited number
# kind: run
# must: held
# needs: filesystem
count = 0
try:
    while count < 5000:
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
        count += 1
except OSError:
    pass
if count:
    found.append(f"{count} terminals")
finish()
