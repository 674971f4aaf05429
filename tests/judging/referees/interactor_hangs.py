# As: interactor. Says: idle.
import time

while True:
    time.sleep(100)
