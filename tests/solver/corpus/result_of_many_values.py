#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = "more than 1000000 values"
with open("result.json", "w") as file:
    file.write('{"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "x": [' + "{}," * 1_100_000 + "0]}")
