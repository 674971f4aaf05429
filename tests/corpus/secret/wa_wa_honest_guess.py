# why: nobody can compute this problem's answers, so whatever passes here has leaked
print("proctor-secret-" + "0" * 24, input())
