# why: an __eq__ without a result must not lose a whole run
# upstream: crash (denial of service) None > 0 raises in the metrics of the whole run
class Anything:
    def __eq__(self, other):
        return None


class Solution:
    def reveal(self, name):
        return Anything()
