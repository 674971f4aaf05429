// Exit codes of a checker by testlib's convention.
enum Found { OK = 0, WRONG = 1, ILL_FORMED = 2, FAILED = 3 };
