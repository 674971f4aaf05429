# title: A cache server that answers too much, too deep, too slowly, or something else
# kind: host
# must: held
# harmless: yes
import socket
import threading

from proctor.errors import InfraFault
from proctor.judging.cache.redis_store import RedisStore

ANSWERS = {
    "a value of 6 GB": b"$6000000000\r\n" + b"0" * (1 << 20),
    "a value of unknown length": b"$?\r\n" + b";1048576\r\n" * 64,
    "200,000 arrays in one another": b"*1\r\n" * 200_000,
    "an array of a billion": b"*1000000000\r\n" + b":1\r\n" * 100_000,
    "an endless line": b"+" + b"x" * (4 << 20),
    "a length that is no number": "$²\r\n".encode() * 2,
    "a negative length": b"$-2\r\n" * 2,
    "another kind": b"*2\r\n:1\r\n%1\r\n+a\r\n:1\r\n",
    "messages that nobody asked for": b">2\r\n+message\r\n+x\r\n" * 100_000,
    "a page of HTML": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "nothing": b"",
    "no text": bytes(range(256)) * 16,
}


def serve(listening, answer):
    """Answer commands rightly until one asks for an entry."""
    connection, _ = listening.accept()
    with connection:
        while data := connection.recv(65536):
            if b"GET" in data:
                break
            connection.sendall(b"+PONG\r\n" if b"PING" in data else b"+OK\r\n" * max(1, data.count(b"*")))
        try:
            for _ in range(64 if len(answer) >= 1 << 20 else 1):
                connection.sendall(answer)
        except OSError:
            return


def ask(answer):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=serve, args=(listening, answer), daemon=True)
        serving.start()
        store = RedisStore(f"redis://127.0.0.1:{listening.getsockname()[1]}/0")
        try:
            return store.get(b"k" * 32)
        finally:
            store.close()
            serving.join()


for what, answer in ANSWERS.items():
    try:
        if ask(answer) is not None:
            found.append(f"{what}: taken for an entry")
    except InfraFault:
        pass
    except Exception as error:
        found.append(f"{what}: {type(error).__name__}: {str(error)[:100]}")
finish()
