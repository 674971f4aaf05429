#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = 'Extra data'
with open("result.json", "wb") as file:
    file.write('{"status": "OPTIMAL", "bins": [["a", "c"], ["b"]]} trailing'.encode("utf-8"))
