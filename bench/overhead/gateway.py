"""Latency that a proxy adds to each chunk of a stream: no proxy, nginx and the gateway, taking turns in one run.

One server streams chunks that carry the moment they were written; clients read that moment and compare it with the moment they
got it. Server and clients are this process, so both moments are of one clock, and what the process itself delays, it delays for
all three alike. Standard library only.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


async def serve(reader, writer):
    """Answers every request of a connection with a stream of stamped events."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = 0
            chunks, gap = 100, 0.005
            for line in head.split(b"\r\n"):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                elif name.lower() == b"x-chunks":
                    chunks = int(value)
                elif name.lower() == b"x-gap-micros":
                    gap = int(value) / 1e6
            await reader.readexactly(length)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for i in range(chunks):
                await asyncio.sleep(gap)
                event = (
                    b'data: {"id":"cmpl-b","choices":[{"index":0,"text":" word","token_ids":[%d]}],"t":%d}\n\n'
                    % (i, time.monotonic_ns())
                )
                writer.write(b"%x\r\n%b\r\n" % (len(event), event))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        pass
    finally:
        writer.close()


async def stream(port, chunks, gap_micros):
    """One request; the delay of each chunk in ns."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = b'{"model":"m","prompt":"hello","max_tokens":%d,"stream":true}' % chunks
    writer.write(
        b"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"X-Chunks: %d\r\nX-Gap-Micros: %d\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b"
        % (chunks, gap_micros, len(body), body)
    )
    delays = []
    await reader.readuntil(b"\r\n\r\n")
    rest = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        # A proxy may cut the stream elsewhere than the server did.
        rest += (await reader.readexactly(size + 2))[:-2]
        now = time.monotonic_ns()
        *events, rest = rest.split(b"\n\n")
        delays += [now - int(event[event.index(b'"t":') + 4 : -1]) for event in events]
    writer.close()
    if len(delays) != chunks:
        sys.exit(f"{chunks} chunks were sent, {len(delays)} came")
    return delays


async def load(port, streams, chunks, gap_micros):
    jobs = [stream(port, chunks, gap_micros + random.Random(i).randrange(gap_micros // 10 + 1)) for i in range(streams)]
    return [delay for delays in await asyncio.gather(*jobs) for delay in delays]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


async def wait_for(port):
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.1)
    sys.exit(f"nothing listens on port {port}")


def start_nginx(binary, folder, port, upstream):
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w") as f:
        f.write(
            f"""worker_processes 2; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream engine {{ server 127.0.0.1:{upstream}; keepalive 256; }}
  server {{ listen 127.0.0.1:{port};
    location / {{ proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 600s; }} }} }}
"""
        )
    return subprocess.Popen([binary, "-c", config, "-p", folder, "-e", os.path.join(folder, "error.log")])


def core_seconds(pid):
    """User and system time of a process and its children that live, such as nginx's workers."""
    total = 0
    try:
        with open(f"/proc/{pid}/stat") as f:
            words = f.read().rpartition(")")[2].split()
        total += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            total += sum(core_seconds(child) for child in f.read().split())
    except OSError:
        pass
    return total


def switches(pid):
    """Times that threads of a process and its children that live gave up their core, to wait."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/status") as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith("voluntary_ctxt_switches"))
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            total += sum(switches(int(child)) for child in f.read().split())
    except OSError:
        pass
    return total


def pin(pid, cores):
    """Keeps a process, its threads and its children on these cores."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), cores)
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        for child in f.read().split():
            pin(int(child), cores)


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] / 1e3


async def measure(arguments):
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    upstream = server.sockets[0].getsockname()[1]
    started = []
    ways = {"direct": upstream}
    with tempfile.TemporaryDirectory() as folder:
        try:
            if arguments.nginx:
                ways["nginx"] = free_port()
                started.append(start_nginx(arguments.nginx, folder, ways["nginx"], upstream))
            else:
                print("nginx: not measured: no nginx on the path (Debian, Ubuntu: apt-get install nginx-light), none given with --nginx")
            for number, command in enumerate(arguments.gateway or ["./tokenstair collect gateway"]):
                way = "gateway" if number == 0 else f"gateway {number + 1}"
                ways[way] = free_port()
                started.append(
                    subprocess.Popen(
                        command.split()
                        + ["--to", os.path.join(folder, f"log{number}"), "--listen", f"127.0.0.1:{ways[way]}"]
                        + ["--upstream", f"http://127.0.0.1:{upstream}"],
                        stdout=subprocess.DEVNULL,
                    )
                )
            pids = dict(zip(list(ways)[1:], [process.pid for process in started]))
            for port in ways.values():
                await wait_for(port)
            if arguments.pin:
                load_core, *others = sorted(os.sched_getaffinity(0))
                if not others:
                    sys.exit("one core only: nothing to keep apart")
                pin(os.getpid(), {load_core})
                for pid in pids.values():
                    pin(pid, set(others))
            delays = {way: [] for way in ways}
            for way, port in ways.items():
                # A JVM compiles what it runs often: what it does before is no figure of any day but the first minute.
                for _ in range(arguments.warm):
                    await load(port, arguments.streams, arguments.chunks, arguments.gap_micros)
            order = list(ways)
            cores = dict.fromkeys(ways, 0.0)
            waits = dict.fromkeys(ways, 0)
            for r in range(arguments.rounds):
                for way in order if r % 2 == 0 else reversed(order):
                    before = core_seconds(pids[way]) if way in pids else 0
                    waited = switches(pids[way]) if way in pids else 0
                    delays[way] += await load(ways[way], arguments.streams, arguments.chunks, arguments.gap_micros)
                    cores[way] += core_seconds(pids[way]) - before if way in pids else 0
                    waits[way] += switches(pids[way]) - waited if way in pids else 0
        finally:
            for process in started:
                process.send_signal(signal.SIGTERM)
            for process in started:
                process.wait()
    print(f"{arguments.streams} streams, a chunk every {arguments.gap_micros} us, {arguments.rounds} rounds; microseconds")
    print(f"{'':10}{'chunks':>9}{'p50':>10}{'p99':>10}{'added p50':>12}{'added p99':>12}{'core/chunk':>12}{'waits/chunk':>13}")
    for way, all_delays in delays.items():
        p50, p99 = quantile(all_delays, 0.5), quantile(all_delays, 0.99)
        added50, added99 = p50 - quantile(delays["direct"], 0.5), p99 - quantile(delays["direct"], 0.99)
        print(f"{way:10}{len(all_delays):>9}{p50:>10.1f}{p99:>10.1f}{added50:>12.1f}{added99:>12.1f}{cores[way] / len(all_delays) * 1e6:>12.1f}"
              f"{waits[way] / len(all_delays):>13.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", action="append", help="the command that starts the gateway (./tokenstair collect gateway); "
                        "more than once to compare several")
    parser.add_argument("--nginx", default=shutil.which("nginx"), help="the nginx to compare with")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--chunks", type=int, default=100)
    parser.add_argument("--gap-micros", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--pin", action="store_true", help="the load on the first core, nginx and gateway on the others: what the load "
                        "does then delays neither")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
