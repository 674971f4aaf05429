# why: a replaced threading._shutdown runs when the interpreter ends
import os
import threading

threading._shutdown = lambda: os._exit(0)
