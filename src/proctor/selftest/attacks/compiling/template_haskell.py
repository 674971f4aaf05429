# title: Template Haskell, which starts programs and computes as long as it likes
# kind: compile
# must: held
# language: haskell
# source: printed
print(r"""{-# LANGUAGE TemplateHaskell #-}
import Language.Haskell.TH
import System.Process
main = putStr $(runIO (readCreateProcess (shell "echo through: code was run") "") >>= litE . stringL)""")
