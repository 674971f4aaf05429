#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = 'twice'
with open("result.json", "wb") as file:
    file.write('{"status": "INFEASIBLE", "status": "OPTIMAL", "bins": [["a", "c"], ["b"]]}'.encode("utf-8"))
