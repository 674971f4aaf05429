# why: a program that prints nothing gives the empty answer
n = int(input())
