"""Where the hand of a jointed arm is, and how far from where it should be.

    adgen compile examples/robot_arm.py

The joints turn about z and y in turn; every link points along the x axis of its own frame.  Expect `miss_grad` to be
the direction in joint angles that moves the hand away from the target: minus it is a step of inverse kinematics.
`hand` has three outputs, so it comes with `hand_jvp` and `hand_vjp` rather than with a gradient.
"""

import numpy as np


def hand(angles: "f64[n]", lengths: "f64[n]") -> "f64[3]":
    """The position of the end of the last link."""
    frame = np.zeros((3, 3))
    for i in range(3):
        frame[i, i] = 1.0
    position = np.zeros(3)
    for joint in range(len(angles)):
        cosine = np.cos(angles[joint])
        sine = np.sin(angles[joint])
        other = 1 if joint % 2 == 0 else 2
        for row in range(3):
            along = frame[row, 0]
            across = frame[row, other]
            frame[row, 0] = cosine * along + sine * across
            frame[row, other] = cosine * across - sine * along
            position[row] += lengths[joint] * frame[row, 0]
    return position


def miss(angles: "f64[n]", lengths: "f64[n]", target: "f64[3]") -> float:
    """Half the squared distance of the hand from the target."""
    return 0.5 * np.sum((hand(angles, lengths) - target) ** 2)
