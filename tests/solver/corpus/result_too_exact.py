#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = '2^53'
with open("result.json", "wb") as file:
    file.write('{"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "objective": 9007199254740993}'.encode("utf-8"))
