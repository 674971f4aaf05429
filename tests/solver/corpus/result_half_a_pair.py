#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = 'surrogate'
with open("result.json", "wb") as file:
    file.write('{"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "note": "\\ud800"}'.encode("utf-8"))
