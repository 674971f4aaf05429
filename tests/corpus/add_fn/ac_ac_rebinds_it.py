# why: a program may say that the imported function is its own
add = add
