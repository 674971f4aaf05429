"""So many clients at once that nearly all must wait: how many were answered, and what it took."""

import argparse
import asyncio
import json
import resource
import time

import serve

BODY = json.dumps({"code": "print(1)", "language": "python"}).encode()
HEAD = (
    "POST /run_code HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(BODY)}\r\nConnection: close\r\n\r\n"
).encode()
A_SOURCE = 20_000
"""Connections from one address: a port each, and there are not many more."""


async def ask(port: int, number: int, gate: asyncio.Semaphore) -> bytes:
    async with gate:  # the kernel's line for connections is bounded
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, local_addr=(f"127.0.0.{2 + number // A_SOURCE}", 0)
        )
        writer.write(HEAD + BODY)
        await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer


async def crowd(port: int, clients: int) -> list[bytes]:
    gate = asyncio.Semaphore(500)
    return await asyncio.gather(*(ask(port, number, gate) for number in range(clients)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=45_000)
    clients = parser.parse_args().clients
    needed = clients + 1000
    try:  # the server inherits it
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, needed))
    except (ValueError, OSError) as error:
        raise SystemExit(f"this takes {needed} descriptors here and there: {error}") from error
    with serve.started(serve.OURS) as server:
        began = time.perf_counter()
        answers = asyncio.run(crowd(server.port, clients))
        took = time.perf_counter() - began
        cpu, peak = server.group.cpu(), server.group.peak()
    right = [each for each in answers if b" 200 OK" in each[:20] and b'"stdout":"1\\n"' in each]
    # Who waited long was sent blanks meanwhile, in chunks: the object is what is between braces.
    queue = [json.loads(each[each.index(b"{") : each.rindex(b"}") + 1])["queue_time"]
             for each in right]  # fmt: skip
    print(f"{len(right)} of {clients} answered rightly in {took:.0f} s, {len(right) / took:.0f}/s")
    print(f"queue time: longest {max(queue):.1f} s, median {sorted(queue)[len(queue) // 2]:.1f} s")
    print(f"server: {cpu / clients * 1000:.2f} ms CPU each, {peak / 2**20:.0f} MiB at most")


if __name__ == "__main__":
    main()
