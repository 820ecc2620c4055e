"""The Lennard-Jones energy of a cluster of atoms, cut off at a distance.

    adgen compile examples/lennard_jones.py

Expect `energy_grad(positions, epsilon, sigma, cutoff)`; minus its first part are the forces, which sum to zero.
Every pair is visited once and differentiated in registers.  Pairs beyond the cutoff cost a comparison.
"""


def energy(positions: "f64[n,3]", epsilon: float, sigma: float, cutoff: float = 3.0) -> float:
    atoms = positions.shape[0]
    reach = (cutoff * sigma) ** 2
    total = 0.0
    for i in range(atoms):
        for j in range(i + 1, atoms):
            square = 0.0
            for axis in range(3):
                square += (positions[i, axis] - positions[j, axis]) ** 2
            if square > reach:
                continue
            attraction = (sigma * sigma / square) ** 3
            total += attraction * attraction - attraction
    return 4.0 * epsilon * total
