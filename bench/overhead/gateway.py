"""Latency that a proxy adds to each chunk of a stream: no proxy, nginx and the gateway, taking turns in one run.

One server streams chunks that carry the moment they were written; clients read that moment and compare it with the moment they
got it. Server and clients are this process, so both moments are of one clock, and what the process itself delays, it delays for
all three alike. Standard library only.

Rounds of all ways come in an order that is drawn anew each time (fixed seed); nginx has two in each, A and B. Quantiles are over all rounds
together, nothing is left out; intervals of 95 % come from drawing rounds (bootstrap). The band of A against A is what nginx differs from itself by
where of each A and B one at random stands against the other.
"""

import argparse
import asyncio
import bisect
import json
import operator
import os
import random
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

DRAWS = 1000
NGINX = ("nginx A", "nginx B")


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


async def stream(port, tls, chunks, gap_micros):
    """One request; of each chunk the moments it was written and got, ns."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    body = b'{"model":"m","prompt":"hello","max_tokens":%d,"stream":true}' % chunks
    writer.write(
        b"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"X-Chunks: %d\r\nX-Gap-Micros: %d\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b"
        % (chunks, gap_micros, len(body), body)
    )
    moments = []
    await reader.readuntil(b"\r\n\r\n")
    rest = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        # A proxy may cut the stream elsewhere than the server did.
        rest += (await reader.readexactly(size + 2))[:-2]
        now = time.monotonic_ns()
        *events, rest = rest.split(b"\n\n")
        moments += [(int(event[event.index(b'"t":') + 4 : -1]), now) for event in events]
    writer.close()
    if len(moments) != chunks:
        sys.exit(f"{chunks} chunks were sent, {len(moments)} came")
    return moments


async def load(port, tls, streams, chunks, gap_micros):
    """The moments of each stream's chunks."""
    jobs = [stream(port, tls, chunks, gap_micros + random.Random(i).randrange(gap_micros // 10 + 1)) for i in range(streams)]
    return await asyncio.gather(*jobs)


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


def certificate(folder):
    """One that server, nginx and gateway all show, and its key."""
    made = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-out", made[0], "-keyout", made[1]], check=True, capture_output=True)
    return made


def start_nginx(binary, folder, port, upstream, shown):
    server, scheme = ("", "http") if shown is None else (f" ssl; ssl_certificate {shown[0]}; ssl_certificate_key {shown[1]}", "https")
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w") as f:
        f.write(
            f"""worker_processes 2; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream engine {{ server 127.0.0.1:{upstream}; keepalive 256; }}
  server {{ listen 127.0.0.1:{port}{server};
    location / {{ proxy_pass {scheme}://engine; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 600s; }} }} }}
"""
        )
    return subprocess.Popen([binary, "-c", config, "-p", folder, "-e", os.path.join(folder, "error.log")])


def threads(pid):
    """Of each thread of a process and of its children that live, such as nginx's workers: name, ns on a core, times it gave that up to wait."""
    found = {}
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            folder = f"/proc/{pid}/task/{thread}"
            with open(f"{folder}/comm") as comm, open(f"{folder}/schedstat") as times, open(f"{folder}/status") as status:
                waits = next(line for line in status if line.startswith("voluntary_ctxt_switches")).split()[1]
                found[thread] = (comm.read().strip(), int(times.read().split()[0]), int(waits))
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            for child in f.read().split():
                found |= threads(int(child))
    except OSError:
        pass
    return found


def spent(before, after):
    """What threads took between two looks, by name; those that ended between are missing."""
    names = {}
    for thread, (name, *now) in after.items():
        then = before.get(thread, (name, 0, 0))[1:]
        names[name] = [old + new - first for old, new, first in zip(names.get(name, (0, 0)), now, then)]
    return names


def pin(pid, cores):
    """Keeps a process, its threads and its children on these cores."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), cores)
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        for child in f.read().split():
            pin(int(child), cores)


class Pool:
    """All delays of some rounds; quantiles of them, each round counted as often as a draw has it."""

    BLOCK = 256

    def __init__(self, rounds):
        self.counts = [len(delays) for delays in rounds]
        self.downwards = sorted(((delay, r) for r, delays in enumerate(rounds) for delay in delays), reverse=True)
        # How many of each round are before each block, so that a quantile is looked for in one only.
        self.before = []
        passed = [0] * len(rounds)
        for i, (_, r) in enumerate(self.downwards):
            if i % self.BLOCK == 0:
                self.before.append(list(passed))
            passed[r] += 1

    def quantile(self, share, times):
        def weighed(counts):
            return sum(map(operator.mul, counts, times))

        above = (1 - share) * weighed(self.counts)
        block = max(0, bisect.bisect_right(self.before, above, key=weighed) - 1)
        above -= weighed(self.before[block])
        for delay, r in self.downwards[block * self.BLOCK : (block + 1) * self.BLOCK]:
            above -= times[r]
            if above < 0:
                return delay / 1e3
        return self.downwards[-1][0] / 1e3


def interval(estimates):
    ordered = sorted(estimates)
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered))]


def against_nginx(delays, rounds, share):
    """A line for each other way: how its quantile differs from nginx's, its interval, and the band of A against A."""
    draw = random.Random(1)
    a, b = (delays[way] for way in NGINX)
    nginx = Pool(a + b)
    band = []
    for _ in range(DRAWS):
        first = [draw.randrange(2) for _ in range(rounds)]
        other = [1 - take for take in first]
        band.append(nginx.quantile(share, first + other) - nginx.quantile(share, other + first))
    low, high = interval(band)
    ones = [1] * rounds
    draws = [[0] * rounds for _ in range(DRAWS)]
    for times in draws:
        for _ in range(rounds):
            times[draw.randrange(rounds)] += 1
    base = nginx.quantile(share, ones + ones)
    drawn = [nginx.quantile(share, times + times) for times in draws]
    for way, of_rounds in delays.items():
        if way not in NGINX:
            pool = Pool(of_rounds)
            difference = pool.quantile(share, ones) - base
            least, most = interval([pool.quantile(share, times) - one for times, one in zip(draws, drawn)])
            where = "inside" if low <= difference <= high else "BETTER" if difference < low else "WORSE"
            fewer = sum(Pool([of]).quantile(share, [1]) <= Pool([x + y]).quantile(share, [1]) for of, x, y in zip(of_rounds, a, b))
            yield (f"p{100 * share:g} {way:18}{difference:+9.1f} us ({least:+.1f} to {most:+.1f}), A against A {low:+.1f} to {high:+.1f}: {where}; "
                   f"no more than nginx in {fewer} of {rounds} rounds")


async def measure(arguments):
    started = {}
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        shown = client_tls = server_tls = None
        of_gateway = []
        if arguments.tls:
            shown = certificate(folder)
            server_tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            server_tls.load_cert_chain(*shown)
            client_tls = ssl.create_default_context(cafile=shown[0])
            of_gateway = ["--upstream-ca", shown[0], "--tls-cert", shown[0], "--tls-key", shown[1]]
        server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024, ssl=server_tls)
        upstream = server.sockets[0].getsockname()[1]
        ports = {"direct": upstream}
        try:
            if arguments.nginx:
                port = free_port()
                started["nginx"] = start_nginx(arguments.nginx, folder, port, upstream, shown)
                ports |= dict.fromkeys(NGINX, port)
            else:
                print("nginx: not measured: no nginx on the path (Debian, Ubuntu: apt-get install nginx-light), none given with --nginx")
            for number, command in enumerate(arguments.gateway or ["./tokenstair collect gateway"]):
                way = "gateway" if number == 0 else f"gateway {number + 1}"
                ports[way] = free_port()
                started[way] = subprocess.Popen(
                    shlex.split(command)
                    + ["--to", os.path.join(folder, f"log{number}"), "--listen", f"127.0.0.1:{ports[way]}"]
                    + ["--upstream", f"http{'s' if arguments.tls else ''}://127.0.0.1:{upstream}"]
                    + of_gateway,
                    stdout=subprocess.DEVNULL,
                )
            pids = {way: started[way.removesuffix(" A").removesuffix(" B")].pid for way in ports if way != "direct"}
            for port in ports.values():
                await wait_for(port)
            if arguments.pin:
                load_core, *others = sorted(os.sched_getaffinity(0))
                if not others:
                    sys.exit("one core only: nothing to keep apart")
                pin(os.getpid(), {load_core})
                for pid in pids.values():
                    pin(pid, set(others))
            for port in dict.fromkeys(ports.values()):
                # A JVM compiles what it runs often: what it does before is no figure of any day but the first minute. What a request
                # does once takes many short ones.
                for _ in range(arguments.warm_requests // arguments.streams):
                    await load(port, client_tls, arguments.streams, 5, 1_000)
                for _ in range(arguments.warm):
                    await load(port, client_tls, arguments.streams, arguments.chunks, arguments.gap_micros)
            delays = {way: [] for way in ports}
            taken = {way: {} for way in pids}
            draw = random.Random(1)
            for r in range(arguments.rounds):
                for way in draw.sample(list(ports), len(ports)):
                    before = threads(pids[way]) if way in pids else {}
                    streams = await load(ports[way], client_tls, arguments.streams, arguments.chunks, arguments.gap_micros)
                    delays[way].append([got - written for moments in streams for written, got in moments])
                    if way in pids:
                        for name, values in spent(before, threads(pids[way])).items():
                            taken[way][name] = [x + y for x, y in zip(taken[way].get(name, (0, 0)), values)]
                    if arguments.samples:
                        with open(arguments.samples, "a") as f:
                            f.write(json.dumps({"round": r, "way": way, "streams": streams}) + "\n")
        finally:
            for process in started.values():
                process.send_signal(signal.SIGTERM)
            for process in started.values():
                process.wait()
    print(f"{arguments.streams} streams, a chunk every {arguments.gap_micros} us, {arguments.rounds} rounds; load of the machine "
          f"{load_before:.1f} before, {os.getloadavg()[0]:.1f} after; microseconds")
    print(f"{'':12}{'chunks':>9}{'p50':>10}{'p99':>10}{'added p50':>12}{'added p99':>12}{'core/chunk':>12}{'waits/chunk':>13}   core by thread")
    all_rounds = [1] * arguments.rounds
    direct = Pool(delays["direct"])
    for way, of_rounds in delays.items():
        pool = Pool(of_rounds)
        count = sum(pool.counts)
        (p50, added50), (p99, added99) = [
            (pool.quantile(q, all_rounds), pool.quantile(q, all_rounds) - direct.quantile(q, all_rounds)) for q in (0.5, 0.99)]
        names = sorted(((values[0] / count / 1e3, name) for name, values in taken.get(way, {}).items()), reverse=True)
        core = sum(micros for micros, _ in names)
        waits = sum(values[1] for values in taken.get(way, {}).values()) / count
        print(f"{way:12}{count:>9}{p50:>10.1f}{p99:>10.1f}{added50:>12.1f}{added99:>12.1f}{core:>12.1f}{waits:>13.2f}   "
              + ", ".join(f"{name} {micros:.1f}" for micros, name in names if micros >= 0.5))
    if arguments.nginx:
        print("against nginx: difference of the quantiles over all rounds, 95 %")
        for share in (0.5, 0.99):
            for line in against_nginx(delays, arguments.rounds, share):
                print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", action="append", help="the command that starts the gateway (./tokenstair collect gateway); "
                        "more than once to compare several, as in \"env JAVA_OPTS='-Xa -Xb' ./tokenstair collect gateway\"")
    parser.add_argument("--nginx", default=shutil.which("nginx"), help="the nginx to compare with")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--chunks", type=int, default=100)
    parser.add_argument("--gap-micros", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--warm-requests", type=int, default=0, help="short requests before the warm rounds")
    parser.add_argument("--pin", action="store_true", help="the load on the first core, nginx and gateway on the others: what the load "
                        "does then delays neither")
    parser.add_argument("--tls", action="store_true", help="TLS on both sides of nginx and gateway (needs openssl)")
    parser.add_argument("--samples", help="a file for the moments that each chunk was written and got, in ns: a line of JSON a round")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
