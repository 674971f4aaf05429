# title: A function-call problem: a result that another thread goes on changing
# kind: judge
# must: not AC
# function: reveal
import threading


class Solution:
    def reveal(self, name):
        box = ["whatever"]

        def change():
            for _ in range(10**6):
                box[:] = [name, "AC", box]

        threading.Thread(target=change, daemon=True).start()
        return box
