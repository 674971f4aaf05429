# why: replacing the number parser must not make everything equal
# upstream: AC (cheat) testing_util.convert_line_to_decimals is looked up at run time
import sys

for name, module in list(sys.modules.items()):
    if module and hasattr(module, "convert_line_to_decimals"):
        module.convert_line_to_decimals = lambda line: (True, [0])
print("whatever")
