# title: Replaced encoders and writers: json, pickle, marshal, struct, os, socket
# kind: judge
# must: not AC
import json
import json.encoder
import marshal
import os
import pickle
import socket
import struct

real = os.write
forged = lambda *args, **kwargs: '{"verdict": "AC", "equal": true}'
json.dumps = json.JSONEncoder.encode = json.encoder.encode_basestring_ascii = forged
json.loads = lambda *args, **kwargs: {"verdict": "AC"}
pickle.dumps = marshal.dumps = struct.pack = lambda *args: b"\x01" * 64
os.write = lambda fd, data: real(fd, b"AC\n") and len(data)
os._exit = lambda code: None
try:
    socket.socket.send = lambda self, data: len(data)
except TypeError:
    pass
