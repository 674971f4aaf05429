# title: A server of a fleet that answers too much, packed, too deep, or something else
# kind: host
# must: held
# harmless: yes
import gzip
import json
import socket
import threading
import zlib

from proctor import Problem, Test
from proctor.clients import Client


def bomb(size, wbits):
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    parts = [packer.compress(b'{"outcome": "')]
    parts += [packer.compress(b"a" * (1 << 20)) for _ in range(size)]
    return b"".join((*parts, packer.compress(b'"}'), packer.flush()))


RIGHT = json.dumps({"verdict": "AC", "score": 1.0, "tests": []}).encode()
ANSWERS = {
    "300 MB in gzip": (b"content-encoding: gzip\r\n", bomb(300, 31)),
    "300 MB in deflate": (b"content-encoding: deflate\r\n", bomb(300, 15)),
    "gzip in gzip": (b"content-encoding: gzip, gzip\r\n", gzip.compress(bomb(100, 31))),
    "an encoding of Python's": (b"content-type: application/json; charset=zlib_codec\r\n", bomb(100, 15)),
    "a million arrays in one another": (b"", b"[" * 1_000_000),
    "four million objects": (b"", b"[" + b"{}," * 4_500_000 + b"{}]"),
    "a number of many digits": (b"", b"9" * 1_000_000),
    "no object": (b"", b"null"),
    "no JSON": (b"", b"\xff\xfe"),
    "a verdict with other fields": (b"", b'{"verdict": "AC", "score": "1"}'),
    "a score that is no number": (b"", RIGHT.replace(b"1.0", b"NaN")),
    "a score beyond 1": (b"", RIGHT.replace(b"1.0", b"1e308")),
    "a verdict that there is not": (b"", RIGHT.replace(b"AC", b"GREAT")),
    "a length of more than there is": (b"content-length: 99999999999\r\n", b"{}"),
    "two lengths": (b"content-length: 2\r\ncontent-length: 3\r\n", b"{}"),
    "a redirection to a file": (b"location: file:///etc/passwd\r\n", b""),
}


def serve(listening, head, body):
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            try:
                connection.recv(1 << 20)
                length = b"" if b"length" in head else b"content-length: %d\r\n" % len(body)
                status = b"307 Moved" if b"location" in head else b"200 OK"
                connection.sendall(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\n" + head + length + b"\r\n" + body)
            except OSError:
                continue


def ask(url, what):
    with Client(url) as client:
        if what == "run":
            return client.run("print(1)")
        return client.judge(Problem("a", (Test("1", "2"),)), "print(2)")


for name, (head, body) in ANSWERS.items():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening, head, body), daemon=True).start()
        for what in ("run", "judge"):
            refused(f"{name}, to {what}", ask, f"http://127.0.0.1:{listening.getsockname()[1]}", what)
finish()
