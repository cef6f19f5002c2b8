"""The comparisons of the bench: what is measured on both sides, and what is asked of the ratio.

A row's `ours` is a command of bench_appell_worker, its `peer` a command of one of the programs in bench/peers. The ratio is ours
over the peer's, or the other way round where we are to be so many times faster; `at_most` or `at_least` is what is asked of it.
`check` says how well the values of both sides must agree, relative to their size: u', or where a run has led to. Of the counts
in `no_more` ours must not be above the peer's. `repeats` below the usual number is for peers that take minutes; `cores` is on how
many our side runs.
"""

PEERS = {
    "hand-written C++": ["bench_hand_written"],
    "Boost.odeint": ["bench_hand_written"],
    "SymPy": ["sympy_worker.py"],
    "SUNDIALS": ["bench_sundials_steps"],
    "GiNaC": ["bench_ginac_chain"],
    "Simbody": ["bench_simbody_worker"],
    "MuJoCo": ["bench_mujoco_chain"],
    "members one by one": ["bench_appell_worker"],
    "the same without them": ["bench_appell_worker"],
}


def row(group, what, ours, against, peer, at_most=None, at_least=None, check=None, repeats=None, slow=False, expected=None,
        cores=1, no_more=()):
    return {"group": group, "what": what, "ours": ours, "against": against, "peer": peer, "at_most": at_most,
            "at_least": at_least, "check": check, "repeats": repeats, "slow": slow, "expected": expected, "cores": cores,
            "no_more": list(no_more)}


def comparisons():
    rows = []

    def add(*arguments, **options):
        rows.append(row(*arguments, **options))

    add("derivation", "equations of a pendulum of 16 links on a cart", ["derive", "cart:16"], "SymPy", ["derive", "16"],
        at_least=3000, check=1e-9, repeats=3)
    add("derivation", "equations of a pendulum of 64 links on a cart", ["derive", "cart:64"], "GiNaC", ["64"], at_least=50,
        check=1e-6, repeats=3)
    add("derivation", "equations of the rolling disk", ["derive", "gallery/rolling_disk.appell"], "SymPy", ["rolling_disk"],
        at_least=500, check=1e-10, repeats=5)
    add("derivation", "equations of the bicycle", ["derive", "gallery/bicycle.appell"], "SymPy", ["bicycle", "equations"],
        at_least=500, repeats=3)
    # the eigenvalues that Meijaard and others published for 5 m/s
    add("derivation", "linearization of the bicycle", ["linearize", "gallery/bicycle.appell"], "SymPy",
        ["bicycle", "linearization"], at_least=5000, repeats=1, slow=True,
        expected=[-14.0783896927982, -0.77534188219585, -0.77534188219585, -0.32286642900409, 0, 4.46486771378823,
                  4.46486771378823, 0])

    for n, repeats in ((2, 5), (8, 3), (16, 3)):
        add("pendulum on a cart", f"time to the first evaluation, {n} links", ["first_evaluation", f"cart:{n}"], "SymPy",
            ["first_evaluation", str(n)], at_least=100, check=1e-9, repeats=repeats, slow=n > 8)
        add("pendulum on a cart", f"one evaluation, {n} links", ["evaluate", f"cart:{n}"], "SymPy", ["evaluate", str(n)],
            at_most=1, check=1e-9, slow=n > 8)

    small = (("two pucks", "pucks", "multipliers", "pucks"),
             ("Appell-Hamel, minimal", "appell_hamel", "minimal", "hamel_minimal"),
             ("Appell-Hamel, nonminimal", "appell_hamel", "nonminimal", "hamel_nonminimal"),
             ("planar pendulum of 4 links", "pendulum:4", "multipliers", "pendulum:4"))
    for name, model, formulation, hand in small:
        add("u' of small systems", name, ["evaluate", model, formulation], "hand-written C++", ["evaluate", hand],
            at_most=1.5, check=1e-12)
    for name, model, formulation, hand in small:
        hand = "hamel_reduced" if hand == "hamel_minimal" else hand
        t_end = "1" if model.startswith("pendulum") else "10"
        add("one accepted step of order 5(4)", name, ["step", model, formulation, "1e-10", t_end], "Boost.odeint",
            ["step", hand, "1e-10", t_end], at_most=1.2, check=1e-6)
        add("one accepted step of order 5(4)", name, ["step", model, formulation, "1e-10", t_end], "SUNDIALS",
            [hand, "1e-10", t_end], at_most=1, check=1e-6)

    for n in (2, 8, 32, 128):
        for kind in ("planar", "spatial"):
            add("chains of rigid bodies", f"u' of {n} bodies, {kind}", ["evaluate", f"{kind}_bodies:{n}"], "Simbody",
                [f"{kind}_bodies:{n}"], at_least=20 if n == 2 else 1, check=1e-8, slow=n > 32)
    for n in (2, 8, 32, 64):
        for kind in ("planar", "spatial"):
            add("chains of rigid bodies", f"u' of {n} bodies, {kind}", ["evaluate", f"{kind}_bodies:{n}"], "MuJoCo",
                [f"{kind}_bodies:{n}"], at_least=1, check=1e-8, slow=n > 32)

    add("runs", "a second of a rolling ball at accuracy 1e-8", ["roll", "gallery/rolling_ball.appell", "1e-8", "10"], "Simbody",
        ["roll", "1e-8", "10"], at_least=20, check=1e-5, no_more=["slip"])

    add("runs", "a long run with events, a contact and a condition far from zero", ["swing", "pendulum:4", "guarded", "1000"],
        "the same without them", ["swing", "pendulum:4", "free", "1000"], at_most=1.2, check=1e-6)

    model = "gallery/appell_hamel_linear.appell"
    add("runs", "a member of 100,000 of the Appell-Hamel mechanism, two cores in lanes", ["ensemble", model, "100000", "2"],
        "members one by one", ["ensemble", model, "2000"], at_least=5, check=1e-16, repeats=5, slow=True, cores=2)

    for n in (10, 100, 1000, 10_000, 100_000):
        for model in ("equal_speeds", "perpendicular"):
            name = model.replace("_", " ")
            add("chains of points", f"u' of {n} points, {name}", ["evaluate", f"{model}:{n}"], "hand-written C++",
                ["evaluate", f"{model}:{n}"], at_most=8, check=1e-5, slow=n > 1000)
    return rows


# our own time for each of so many parts, across a range of sizes: the longest over the shortest
RANGES = [
    {"group": "chains of points", "what": f"time per point from 10 to 100,000, {model.replace('_', ' ')}", "at_most": 2,
     "ours": ["evaluate_point", f"{model}:{{n}}"], "sizes": [10, 100, 1000, 10_000, 100_000], "against": "the fastest size", "slow": True}
    for model in ("equal_speeds", "perpendicular")
]

# cold processes, by the clock on the wall
COLD = [
    {"group": "a cold start", "what": "run gallery/perpendicular_pucks.appell, files written", "against": "Python importing SymPy",
     "at_least": 5},
]
# against the same import: all that comes before a run, in a warm process
PREPARE = {"group": "a cold start", "what": "parse, derive and compile the pucks", "against": "Python importing SymPy",
           "at_least": 100, "ours": ["prepare", "gallery/perpendicular_pucks.appell"]}

# curves by our worker alone: (kind, name, task, sizes)
GROWTH = [
    ("derivation", "pendulum on a cart, links", ["derive", "cart:{n}"], (2, 4, 8, 16, 32, 64, 128)),
    ("derivation", "planar chain, bodies", ["derive", "planar_bodies:{n}"], (2, 4, 8, 16, 32, 64)),
    ("derivation", "the same to its first rate, by the tree, without M", ["first_evaluation", "planar_bodies:{n}"],
     (2, 4, 8, 16, 32, 64, 128)),
    ("derivation", "perpendicular points", ["derive", "perpendicular:{n}"], (10, 100, 1000, 10_000, 100_000)),
    ("evaluation", "pendulum on a cart, links", ["evaluate", "cart:{n}"], (2, 4, 8, 16, 32, 64, 128)),
    ("evaluation", "chain in space with a skate at its end, bodies", ["evaluate", "skating_bodies:{n}"], (2, 4, 8, 16, 32, 64, 128)),
    ("evaluation", "perpendicular points", ["evaluate", "perpendicular:{n}"], (10, 100, 1000, 10_000, 100_000)),
    ("evaluation", "parallel points, a third of the rows redundant", ["evaluate", "parallel:{n}"], (10, 100, 1000, 10_000, 100_000)),
    ("step", "pendulum on a cart, links", ["step", "cart:{n}", "multipliers", "1e-8", "0.1"], (2, 4, 8, 16, 32, 64)),
    ("step", "planar chain, bodies", ["step", "planar_bodies:{n}", "multipliers", "1e-8", "0.1"], (2, 4, 8, 16, 32, 64)),
    ("step", "perpendicular points", ["step", "perpendicular:{n}", "multipliers", "1e-8", "0.1"], (10, 100, 1000, 10_000)),
]
