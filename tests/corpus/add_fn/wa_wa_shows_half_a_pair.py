# why: the text of an object may be half of a surrogate pair, which must not break what reports it


class Shown:
    def __repr__(self):
        return "\ud800"


class Solution:
    def add(self, a, b):
        return Shown()
