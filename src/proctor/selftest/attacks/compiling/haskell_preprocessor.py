# title: A preprocessor of the program's own choice, by a pragma that a macro makes up
# kind: compile
# must: held
# language: haskell
# source: printed
print(r"""{-# LANGUAGE CPP #-}
#define WORDS -F -pgmF cp
{-# OPTIONS_GHC WORDS #-}
main = putStrLn "through: a program was named" """)
