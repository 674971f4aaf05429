# why: a running generator's frame links back to its callers
# upstream: AC (cheat) gi_frame.f_back reaches gt_out
def walk():
    frame = g.gi_frame
    while frame:
        if "gt_out" in frame.f_locals:
            yield frame.f_locals["gt_out"]
        frame = frame.f_back
    yield "nothing found"


g = walk()
print(next(g))
