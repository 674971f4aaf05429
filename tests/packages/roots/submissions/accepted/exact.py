print(float(input()) ** 0.5)
