"""What the final verdict costs besides its checks: milliseconds between the end of the last iteration and the verdict,
less the time of the checks themselves, with no judge changed and with one. Prints each as a ratio to its limit.

    verdict.py [PROGRAM]
"""
import sys

from loop import Bench

LIMITS = {2_000: 300, 50_000: 2_000}  # files: milliseconds
AGENT = "#!/bin/sh\ntouch done\n"
CHANGES_JUDGE = AGENT + "echo '# rewritten' >> tests/test_a.py\n"


def overhead(program, files, agent):
    with Bench(program, agent, "done: `$ test -f done`") as bench:
        for number in range(files):
            bench.write(f"src/d{number // 100}/f{number}.txt", f"{number}\n")
        bench.write("tests/test_a.py", "def test_a():\n    assert True\n")
        ran = bench.call("run", "--trust")
        records = bench.journal()
    if ran.returncode != 0:
        sys.exit(f"the loop did not complete:\n{ran.stdout}{ran.stderr}")
    verdict = next(it for it in records if it["type"] == "final-verdict")
    if verdict.get("unavailable"):
        sys.exit(f"there is no clean room here: {verdict['unavailable']}")
    before = next(it for it in reversed(records) if it["seq"] < verdict["seq"])
    rounds = [verdict[it] for it in ("asLeft", "pinned") if verdict.get(it)]
    checks = sum(result["durationMs"] for it in rounds for result in it["results"])
    return verdict["up"] - before["up"] - checks, len(rounds)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/loopkeeper"
    for files, limit in LIMITS.items():
        for name, agent, expected in [("no judge changed", AGENT, 1), ("one judge changed", CHANGES_JUDGE, 2)]:
            times = []
            for _ in range(3):
                took, rounds = overhead(program, files, agent)
                if rounds != expected:
                    sys.exit(f"{rounds} rounds instead of {expected}: this measures something else")
                times.append(took)
            took = sorted(times)[1]
            print(f"{files:>6} files, {name:<17}  {took:5} ms  {took / limit:4.2f} of the limit of {limit} ms")


if __name__ == "__main__":
    main()
