# why: the imports that come before a program have a function of that name, the program has none
x = 1
