# why: an __eq__ that returns text must not lose a whole run
# upstream: crash (denial of service) 'x' > 0 raises in the metrics of the whole run
class Anything:
    def __eq__(self, other):
        return "x"


class Solution:
    def reveal(self, name):
        return Anything()
