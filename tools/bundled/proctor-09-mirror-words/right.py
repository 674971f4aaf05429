from typing import List


class Solution:
    def mirrorLetters(self, words: List[str]) -> List[int]:
        return [self.letters(word) for word in words]

    def letters(self, word: str) -> int:
        n = len(word)
        # need[j]: letters to insert into word[i : j + 1], for the i at hand
        need = [0] * n
        for i in range(n - 2, -1, -1):
            diagonal = 0
            for j in range(i + 1, n):
                below = need[j]
                if word[i] == word[j]:
                    need[j] = diagonal
                else:
                    need[j] = 1 + min(below, need[j - 1])
                diagonal = below
        return need[n - 1]
