#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = 'too large'
with open("result.json", "wb") as file:
    file.write('{"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "objective": 1e999}'.encode("utf-8"))
