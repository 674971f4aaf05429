#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_invalid"
#: digest = 'utf-8'
with open("result.json", "wb") as file:
    file.write('\xff'.encode("latin-1"))
