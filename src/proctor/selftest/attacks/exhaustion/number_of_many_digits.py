# title: A number whose text takes for ever to make
# kind: run
# must: limit cpu
# limits: cpu=0.3
sys.set_int_max_str_digits(0)
print(len(str(7 ** (10**7))))
