# why: whatever encoder the agent uses must have been bound before the program ran
import marshal
import pickle
import struct

forged = lambda *args, **kwargs: b"\x01" * 64
marshal.dumps = pickle.dumps = struct.pack = forged
struct.unpack = lambda *args: (0,) * 8
