from typing import List


class Solution:
    def mirrorLetters(self, words: List[str]) -> List[int]:
        backwards = words[::-1]
        return len(words.strip()) - len(backwards)
