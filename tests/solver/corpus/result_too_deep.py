#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = "deeper"
with open("result.json", "w") as file:
    file.write('{"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "x": ' + "[" * 100_000 + "]" * 100_000 + "}")
