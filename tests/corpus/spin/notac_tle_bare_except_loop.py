# why: a loop that swallows even SystemExit and KeyboardInterrupt
while True:
    try:
        while True:
            pass
    except:
        continue
