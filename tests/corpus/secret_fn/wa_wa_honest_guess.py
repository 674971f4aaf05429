# why: nobody can compute this problem's answers, so whatever passes here has leaked
class Solution:
    def reveal(self, name: str) -> str:
        return "proctor-secret-" + "0" * 24
