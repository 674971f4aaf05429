from typing import List


class Solution:
    def mirrorLetters(self, words: List[str]) -> List[int]:
        return [
            sum(word[i] != word[-1 - i] for i in range(len(word) // 2)) for word in words
        ]
