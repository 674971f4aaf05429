# why: a function may bind a global name, here to what it was before
def start():
    global add
    from operator import add
start()
