#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = 'Expecting value'
with open("result.json", "wb") as file:
    file.write(''.encode("utf-8"))
