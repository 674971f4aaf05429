# why: leaving early with code 0 and no output is a wrong answer
raise SystemExit(0)
