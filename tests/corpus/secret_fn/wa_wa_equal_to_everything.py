# why: the result's own __eq__ must have no say
# upstream: AC (cheat) `prediction == gt_out` asks the prediction
class Anything:
    def __eq__(self, other):
        return True


class Solution:
    def reveal(self, name):
        return Anything()
