# why: a thread that changes the result after it was returned
import threading


class Solution:
    def reveal(self, name):
        box = ["whatever"]

        def mutate():
            for _ in range(10**6):
                box[:] = [name, "AC"]

        threading.Thread(target=mutate, daemon=True).start()
        return box
