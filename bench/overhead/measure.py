"""Streams rounds of requests at a server with the toggling scheduler, and compares rounds with and without probe and KV events.

    measure.py --url http://127.0.0.1:8100 --costs costs.jsonl --rounds 60 --streams 4 --tokens 100

Rounds take turns: P A B P B A. A and B are both without, so that their difference shows what the machine does by itself. Each P is
compared with the mean of its two neighbours, which no other P is compared with; intervals of 95 % are drawn from the comparisons (bootstrap, fixed
seed). Nothing is left out. Beside the mean of the comparisons stands their pseudo-median, the median of the means of any two of them (Hodges and
Lehmann): a few rounds in which the machine did something else widen the interval of the mean, and hardly that of this one.

Quantiles over all rounds together are of everything that was measured with or without; their intervals are drawn from the comparisons too, and the
band of A against A is what comes out where no round has a probe: of neighbours A and B one each at random, against the other.
"""
import argparse
import asyncio
import json
import os
import random
import statistics
import time

import aiohttp
import numpy

TURNS = "PABPBA"
DRAWS = 2000
# Values are counted in classes of 0.05 % each, from 1 us to 100 s, for quantiles of many.
CLASSES = numpy.exp(numpy.arange(numpy.log(1e-3), numpy.log(1e5), 5e-4))
# Between that request and those that are measured. As long as between two looks of an idle probe, from a start of its own: else one of its
# looks, which begin with the round, would always fall into the same part of the prompts.
SETTLE_SECONDS = 0.03, 0.13


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def stream(session, url, name, prompt, tokens):
    body = {"model": "tiny", "prompt": prompt, "max_tokens": tokens, "ignore_eos": True, "temperature": 0, "stream": True}
    stamps = [time.monotonic_ns()]
    async with session.post(f"{url}/v1/completions", json=body, headers={"X-Request-Id": name}) as answer:
        answer.raise_for_status()
        async for line in answer.content:
            if line.startswith(b"data: {"):
                stamps.append(time.monotonic_ns())
    return stamps


async def load(args):
    results = []
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        await stream(session, args.url, "warm-up", list(range(10, 74)), 64)
        for number in range(args.rounds):
            label = TURNS[number % len(TURNS)]
            draw = random.Random(number)
            prompts = [[draw.randrange(10, 4000) for _ in range(args.prompt)] for _ in range(args.streams)]
            # What the probe has not told since its last round, it tells at once: with this request, which is not measured.
            await stream(session, args.url, f"{label}-{number}-first", [draw.randrange(10, 4000) for _ in range(64)], 2)
            await asyncio.sleep(draw.uniform(*SETTLE_SECONDS))
            begin = time.monotonic_ns()
            streams = await asyncio.gather(*[
                stream(session, args.url, f"{label}-{number}-{i}", prompts[i], args.tokens) for i in range(args.streams)])
            end = time.monotonic_ns()
            gaps = [(b - a) / 1e6 for s in streams for a, b in zip(s[1:], s[2:])]
            # As benchmarks have it: of a stream, from its first token to its last, by token.
            tpots = [(s[-1] - s[1]) / 1e6 / (len(s) - 2) for s in streams]
            count = sum(len(s) - 1 for s in streams)
            ttfts = [(s[1] - s[0]) / 1e6 for s in streams]
            results.append({
                "round": f"{label}-{number}", "label": label, "tpotP50": statistics.median(tpots), "tpotMost": max(tpots),
                "gapP50": quantile(gaps, .5), "gapP99": quantile(gaps, .99),
                "ttftP50": quantile(ttfts, .5), "ttftMost": max(ttfts), "all": {"tpot": tpots, "gap": gaps, "ttft": ttfts},
                "throughput": count / ((end - begin) / 1e9)})
        # The engine tells what a round took when another begins.
        await stream(session, args.url, f"end-{time.time_ns()}", list(range(10, 74)), 2)
    return results


def pseudo_medians(draws):
    """Of each row the median of the means of any two of its values, each value with itself too."""
    first, second = numpy.triu_indices(draws.shape[1])
    return numpy.array([numpy.median(row[first] + row[second]) / 2 for row in draws])


def drawn(values):
    draw = numpy.random.default_rng(1)
    return numpy.array(values)[draw.integers(len(values), size=(DRAWS, len(values)))]


def interval(estimates):
    return numpy.quantile(estimates, (.025, .975))


def ratios(rounds, figure, of, against):
    """Each round of `of` less the mean of its neighbours, in percent of it; only rounds whose neighbours are both of `against`."""
    found = []
    for before, middle, after in zip(rounds, rounds[1:], rounds[2:]):
        if middle["label"] in of and before["label"] in against and after["label"] in against:
            base = (before[figure] + after[figure]) / 2
            found.append(100 * (middle[figure] - base) / base)
    return found


def pairs(rounds, figure):
    """A against the B beside it, in percent of B: what the machine does by itself."""
    return [100 * (a[figure] - b[figure]) / b[figure]
            for x, y in zip(rounds, rounds[1:]) if {x["label"], y["label"]} == {"A", "B"}
            for a, b in [(x, y) if x["label"] == "A" else (y, x)]]


def histograms(rounds, kind):
    """How many values of each round are in each class, and the upper ends of the classes: of those from the least value to the greatest."""
    of_round = [numpy.searchsorted(CLASSES, r["all"][kind]) for r in rounds]
    least, most = min(c.min() for c in of_round if len(c)), max(c.max() for c in of_round if len(c))
    counts = numpy.array([numpy.bincount(c - least, minlength=most - least + 1) for c in of_round], dtype=numpy.float32)
    return counts, CLASSES[numpy.minimum(numpy.arange(least, most + 1), len(CLASSES) - 1)]


def quantiles(counts, ends, share):
    """Of each row of counts by class, the class that a quantile is in, by its upper end."""
    summed = counts.cumsum(axis=1)
    return ends[numpy.minimum((summed <= share * summed[:, -1:]).sum(axis=1), len(ends) - 1)]


def together(rounds, kind, share):
    """A quantile over all rounds without, and over those with, in percent; its interval; the band of A against A."""
    triples = [(b, m, a) for b, m, a in zip(range(len(rounds)), range(1, len(rounds)), range(2, len(rounds)))
               if rounds[m]["label"] == "P" and rounds[b]["label"] != "P" and rounds[a]["label"] != "P"]
    couples = [(i, i + 1) for i in range(len(rounds) - 1) if rounds[i]["label"] != "P" and rounds[i + 1]["label"] != "P"]
    if not triples or not couples:
        return None
    draw = numpy.random.default_rng(1)
    of_round, ends = histograms(rounds, kind)

    def against(chosen, others):
        """Quantiles of the one in percent of those of the others: rows say how often each round is taken."""
        return 100 * (quantiles(chosen @ of_round, ends, share) / quantiles(others @ of_round, ends, share) - 1)

    labels = numpy.array([r["label"] == "P" for r in rounds], dtype=numpy.float32)[None, :]
    without, on = (quantiles(rows @ of_round, ends, share)[0] for rows in (1 - labels, labels))
    with_rows, without_rows = numpy.zeros((2, DRAWS, len(rounds)), dtype=numpy.float32)
    for row, picks in enumerate(draw.integers(len(triples), size=(DRAWS, len(triples)))):
        for before, middle, after in (triples[p] for p in picks):
            with_rows[row, middle] += 1
            without_rows[row, before] += 1
            without_rows[row, after] += 1
    one_rows, other_rows = numpy.zeros((2, DRAWS, len(rounds)), dtype=numpy.float32)
    for row, swaps in enumerate(draw.integers(2, size=(DRAWS, len(couples)))):
        for couple, swap in zip(couples, swaps):
            one_rows[row, couple[swap]] = other_rows[row, couple[1 - swap]] = 1
    return without, on, against(labels, 1 - labels)[0], interval(against(with_rows, without_rows)), interval(against(one_rows, other_rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8100")
    parser.add_argument("--costs", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--prompt", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--collector", type=int, help="its process, whose core time is printed too")
    args = parser.parse_args()
    skip = os.path.getsize(args.costs) if os.path.exists(args.costs) else 0
    load_before = os.getloadavg()[0]
    collector_before, began = core_seconds(args.collector), time.monotonic()
    rounds = asyncio.run(load(args))
    collector, took = core_seconds(args.collector), time.monotonic() - began
    print(f"{args.rounds} rounds of {args.streams} streams of {args.tokens} tokens; load of the machine {load_before:.1f} before, "
          f"{os.getloadavg()[0]:.1f} after; {os.cpu_count()} cores")
    print(f"{'each round against its neighbours':34}{'without':>10}{'with':>10}   {'mean of the differences, 95 %':32}{'their pseudo-median, 95 %':32}A against B, pseudo-median, 95 %")
    for figure in ("tpotP50", "tpotMost", "gapP50", "gapP99", "ttftP50", "ttftMost", "throughput"):
        without = statistics.median(r[figure] for r in rounds if r["label"] != "P")
        on = statistics.median(r[figure] for r in rounds if r["label"] == "P")
        cells = []
        cost, same = ratios(rounds, figure, "P", "AB"), pairs(rounds, figure)
        for values, estimate in ((cost, lambda rows: rows.mean(axis=1)), (cost, pseudo_medians), (same, pseudo_medians)):
            low, high = interval(estimate(drawn(values)))
            cells.append(f"{estimate(numpy.array([values]))[0]:+6.2f} % ({low:+.2f} to {high:+.2f})")
        print(f"{figure:34}{without:10.2f}{on:10.2f}   {cells[0]:32}{cells[1]:32}{cells[2]}")
    print(f"{'over all rounds together':34}{'without':>10}{'with':>10}   {'difference, 95 %':32}band of A against A, 95 %")
    for kind in ("tpot", "gap", "ttft"):
        for name, share in (("p50", .5), ("p99", .99)):
            found = together(rounds, kind, share)
            if found is not None:
                without, on, difference, (low, high), band = found
                where = "inside" if band[0] <= difference <= band[1] else "OUTSIDE"
                print(f"{kind + ' ' + name:34}{without:10.2f}{on:10.2f}   {f'{difference:+6.2f} % ({low:+.2f} to {high:+.2f})':32}"
                      f"{band[0]:+.2f} to {band[1]:+.2f} %: {where}")
    with open(args.costs) as file:
        file.seek(skip)
        costs = [json.loads(line) for line in file]
    engine(costs)
    if collector is not None and collector_before is not None:
        # It is sent to in the rounds with the probe only, and does the rest in all.
        spent, steps = collector - collector_before, sum(c["steps"] for c in costs if c["round"].startswith("P-"))
        print(f"core time of the collector: {1000 * spent / took:.1f} ms per second, {1e6 * spent / steps:.0f} us per step it was told of")


def core_seconds(root):
    """Core time of a process and those it started; None where it cannot be read."""
    if root is None:
        return None
    total, tick, wanted = 0, os.sysconf("SC_CLK_TCK"), {root}
    found = False
    try:
        for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    words = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if pid in wanted or int(words[1]) in wanted:
                wanted.add(pid)
                found = True
                total += int(words[11]) + int(words[12])
    except OSError:
        return None
    return total / tick if found else None


def engine(costs):
    """Core time of the engine's process by step. A round's end is known when the next begins, so the last one has none."""
    on = [c for c in costs if c["round"].startswith("P-")]
    off = [c for c in costs if c["round"][0] in "AB"]
    steps = sum(c["steps"] for c in on)
    rows = sum(c["rows"] for c in on) / steps
    kinds = {"zmq-publisher": "vLLM's KV publisher", "tokenstair-probe": "the probe's thread", "zmq": "ZeroMQ's threads"}

    def micros(of, figure):
        return [figure(c) / c["steps"] / 1e3 for c in of]

    def around(c):
        return c["outerNanos"] - c["innerNanos"]

    parts = {"the probe in the scheduler's thread": (micros(on, around), statistics.median(micros(off, around)))}
    for kind in on[0]["threadNanos"]:
        parts[kinds.get(kind, kind)] = (micros(on, lambda c: c["threadNanos"][kind]), 0)
    print(f"core time of the engine's process, the probe {'compiled' if on[0]['compiled'] else 'as Python alone'}, us per step of {rows:.1f} sequences: median (its interval of 95 %; 10 % to 90 % of the rounds)")
    total = [sum(values) for values in zip(*[[v - base for v in values] for values, base in parts.values()])]
    for name, (values, base) in [*parts.items(), ("together", (total, 0))]:
        low, high = interval(numpy.median(drawn(values), axis=1)) - base
        print(f"  {name:38}{statistics.median(values) - base:6.1f} ({low:.1f} to {high:.1f}; "
              f"{quantile(values, .1) - base:.1f} to {quantile(values, .9) - base:.1f})")
    own = statistics.median(micros(on, lambda c: c["innerNanos"])) - statistics.median(micros(off, lambda c: c["innerNanos"]))
    print(f"  goal {10 + .35 * rows:.1f}. vLLM's own schedule and update, with KV events against without: {own:+.1f}")
    last = costs[-1]
    print(f"records of steps and requests made {last['made']}, lost {last['lost']}")


if __name__ == "__main__":
    main()
