"""`port_thief.py FILE PORT`: another user takes the port that a server was told to take.

The server itself says nothing. FILE gets all requests that the other user gets.
"""

import os
import select
import socket
import sys

STRANGER = 65534
BODY = b'{"data": [{"id": "stub"}]}'


def main(file: str, port: str) -> None:
    stay, held = os.pipe()
    requests = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    if child := os.fork():
        os.waitpid(child, 0)
        os.read(stay, 1)  # until it is ended
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(held)
    os.setgroups([])
    os.setgid(STRANGER)
    os.setuid(STRANGER)
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        while stay not in select.select([listener, stay], [], [])[0]:
            connection = listener.accept()[0]
            with connection:
                os.write(requests, connection.recv(65536))
                head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
                connection.sendall(head % len(BODY) + BODY)


if __name__ == "__main__":
    main(*sys.argv[1:])
