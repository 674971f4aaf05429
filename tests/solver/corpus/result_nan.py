#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = 'NaN'
with open("result.json", "wb") as file:
    file.write('{"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "objective": NaN}'.encode("utf-8"))
