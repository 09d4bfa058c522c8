"""Swarms against what is known: Voronoi coverage, consensus, auctions."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from math import sqrt

import numpy as np
from matplotlib.figure import Figure

from airloom.radio.packet import Packet
from airloom.swarm import Agreement, Auction
from airloom.swarm.coverage.area import Area, AreaParameters
from airloom.swarm.coverage.lloyd import centroid, cost
from airloom.swarm.coverage.ways import Ways
from validation.case import Outcome, Row, case

CELLS = 120  # along a side of the square
HEXAGON = 5.0 / (18.0 * sqrt(3.0))
"""Moment of inertia of a regular hexagon of area 1 about its middle."""


def lloyd(members: int, seed: int, steps: int) -> list[float]:
    """Costs of members that jump to their centroids, in a square of area 1, from places at random."""
    area = Area(AreaParameters(size=(1.0, 1.0), cell=1.0 / CELLS), [], 0.0)
    ways, weights, all_of_them = Ways(area.shape), np.ones(area.shape), np.ones(members, bool)
    points, costs = np.random.default_rng(seed).uniform(0.1 * CELLS, 0.9 * CELLS, (members, 2)), []
    for _ in range(steps):
        ways.spread(area.closed, points, all_of_them)
        costs.append(cost(ways, weights, area.cell))
        points = np.array([centroid(ways, k, weights) for k in range(members)])
    return costs


@cache
def runs(members: int, seeds: int, steps: int) -> list[list[float]]:
    return [lloyd(members, seed, steps) for seed in range(seeds)]


def draw_costs(figure: Figure) -> None:
    axis = figure.subplots()
    for members, colour in ((4, "#1f5fa8"), (64, "#e0641b")):
        best = members * HEXAGON / members**2
        for k, costs in enumerate(runs(members, 5, 80)):
            label = f"{members} members" if k == 0 else None
            axis.semilogy(np.array(costs) / best, color=colour, linewidth=1.0, label=label)
    axis.axhline(1.0, color="#888888", linestyle="--", label="hexagons")
    axis.set(xlabel="step", ylabel="cost / cost of hexagons")
    axis.legend()


@case(
    "Voronoi coverage of a square",
    "Cortés, Martínez, Karatas and Bullo, IEEE Trans. Robotics and Automation 20 (2004): descent of the cost; L. Fejes "
    "Tóth, Lagerungen in der Ebene (1953): no n places are better than n regular hexagons of the same area",
)
def lloyd_coverage() -> Outcome:
    """Members in a square of area 1 go to the centroids of what is nearest to them, by the same functions that vehicles
    fly by, on a grid of 120 × 120 cells. The cost is the mean square of the distance to the nearest member. One ends in
    the middle, two halve the square and four quarter it: 1/6, 5/48 and 1/24. For many, the cost n H tends to that of
    hexagons, 5/(18 √3), and cannot be less; from places at random one ends in a local minimum, with an edge around it,
    a few per cent above. The cost never rises from one step to the next.
    """
    exact = {1: 1.0 / 6.0, 2: 5.0 / 48.0, 4: 1.0 / 24.0}
    rows = [
        Row(f"cost of {members}, best of 5", min(costs[-1] for costs in runs(members, 5, 80)), best, 0.01 * best)
        for members, best in exact.items()
    ]
    many = [64 * costs[-1] for costs in runs(64, 5, 80)]
    rows.append(Row("n H of 64, mean of 5, and hexagons", float(np.mean(many)), HEXAGON, 0.05 * HEXAGON))
    rows.append(Row("n H of 64, least of 5, below hexagons by", max(HEXAGON - min(many), 0.0), 0.0, 1e-3 * HEXAGON))
    steps = [np.diff(costs).max() / costs[0] for members in (2, 4, 64) for costs in runs(members, 5, 80)]
    rows.append(Row("greatest rise of the cost in a step, relative", max(*steps, 0.0), 0.0, 1e-3))
    return Outcome(rows, draw_costs, "Cost over the steps, five runs each, relative to hexagons of the same area.")


def agree(linked: np.ndarray, values: np.ndarray, steps: int) -> np.ndarray:
    """The largest difference of any two after each step, by words that nobody misses."""
    members, spreads = [Agreement(value) for value in values], []
    for step in range(steps):
        words = [member.word(step) for member in members]
        for hearer, speaker in zip(*np.nonzero(linked), strict=True):
            members[hearer].hear([Packet(str(speaker), "*", words[speaker], step, step, 0.0)])
        for member in members:
            member.step(step)
        spreads.append(np.linalg.norm([member.value for member in members] - np.mean(values)))
    return np.array(spreads)


def second_eigenvalue(linked: np.ndarray) -> float:
    """In absolute terms, of Metropolis' weights."""
    degrees = linked.sum(axis=1)
    weights = np.where(linked, 1.0 / (1.0 + np.maximum(degrees[:, None], degrees)), 0.0)
    weights += np.diag(1.0 - weights.sum(axis=1))
    return float(np.sort(np.abs(np.linalg.eigvalsh(weights)))[-2])


def graphs() -> dict[str, np.ndarray]:
    near = np.abs(np.arange(12)[:, None] - np.arange(12))
    places = np.random.default_rng(4).uniform(0, 1, (20, 2))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    return {
        "a line of 12": near == 1,
        "a ring of 12": (near == 1) | (near == 11),
        "20 in a square": (apart < 0.4) & (apart > 0),
    }


@case(
    "Consensus",
    "Xiao and Boyd, Systems & Control Letters 53 (2004): the distance from the mean shrinks by the second largest "
    "eigenvalue of the matrix of weights",
)
def consensus_rate() -> Outcome:
    """Members tell each other their numbers and approach their neighbours' by Metropolis' weights, without loss. After
    some steps the distance from the mean shrinks at each by the same factor: the second largest eigenvalue, in absolute
    terms, of the matrix of weights, which NumPy finds from the graph alone.
    """
    rows = []
    for name, linked in graphs().items():
        spreads = agree(linked, np.random.default_rng(1).uniform(0, 1, len(linked)), 200)
        reference = second_eigenvalue(linked)
        usable = int(np.searchsorted(-spreads, -1e-10 * spreads[0]))
        last = min(usable, len(spreads)) - 1
        ours = float((spreads[last] / spreads[last - 20]) ** (1.0 / 20.0))
        rows.append(Row(f"factor a step, {name}", ours, reference, 1e-3))
    return Outcome(rows)


def auctioned(places: np.ndarray, tasks: np.ndarray, most: int) -> list[Auction]:
    """Members that hear each other in a line, until nothing changes any more."""
    names = [str(k) for k in range(len(places))]
    members = [Auction(name, names, tasks, most, discount=0.95) for name in names]
    for now in range(len(tasks) * len(names) + 5):
        for member, place in zip(members, places, strict=True):
            member.step(place, now)
        words = [member.word(now) for member in members]
        for k, member in enumerate(members):
            heard = [Packet(names[j], "*", words[j], now, now, 0.0) for j in (k - 1, k + 1) if 0 <= j < len(names)]
            member.hear(heard)
    return members


def best_of_all(members: list[Auction], places: np.ndarray, tasks: int, most: int) -> float:
    """The greatest sum of all ways to share out and order the tasks."""
    values: dict[tuple[int, frozenset[int]], float] = {}

    def value(k: int, mine: frozenset[int]) -> float:
        if (k, mine) not in values:
            values[k, mine] = max(members[k].score(places[k], order) for order in permutations(sorted(mine)))
        return values[k, mine]

    best = 0.0
    for winners in product(range(len(members)), repeat=tasks):
        shares = [frozenset(task for task in range(tasks) if winners[task] == k) for k in range(len(members))]
        if max(map(len, shares)) <= most:
            best = max(best, sum(value(k, share) for k, share in enumerate(shares)))
    return best


@case(
    "Auction of tasks",
    "Choi, Brunet and How, IEEE Trans. Robotics 25 (2009): bundles without conflicts, worth at least half of the best; "
    "the best by trying all",
)
def auction_worth() -> Outcome:
    """Three members in a line share out six tasks at random places, at most three each, by CBBA; 40 times. The best
    possible sum is found by trying all ways to share them out and to order them. The algorithm promises half of it.
    """
    shares, conflicts = [], 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        places, tasks = random.uniform(0, 100, (3, 2)), random.uniform(0, 100, (6, 2))
        members = auctioned(places, tasks, 3)
        taken = [task for member in members for task in member.route]
        conflicts += len(taken) != len(set(taken))
        total = sum(member.score(place, member.route) for member, place in zip(members, places, strict=True))
        shares.append(total / best_of_all(members, places, 6, 3))
    rows = [
        Row("sum over the best, least of 40", min(shares), 0.75, 0.25),
        Row("sum over the best, mean of 40", float(np.mean(shares)), 0.9, 0.1),
        Row("auctions with a conflict", float(conflicts), 0.0, 0.0),
    ]
    return Outcome(rows)
