from typing import List


class Solution:
    def mirrorLetters(self, words: List[str]) -> List[int]:
        return [self.letters(word) for word in words]

    def letters(self, word: str) -> int:
        if len(word) < 2:
            return 0
        if word[0] == word[-1]:
            return self.letters(word[1:-1])
        return 1 + min(self.letters(word[1:]), self.letters(word[:-1]))
