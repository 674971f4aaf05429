# why: an honest endless loop
while True:
    pass
