"""Bundle adjustment: how far photographed points are from where the cameras should see them.

    adgen compile examples/bundle_adjustment.py cost --wrt cameras,points

A camera is nine numbers: a rotation vector, a translation, the focal length and two radial distortion coefficients.
Expect gradients of the shapes of `cameras` and `points`.  Observations gather cameras and points by index: the
gradient scatters, and adds up where several observations meet in one camera.  A camera that is not turned
(`angle == 0`) takes its own branch and has a finite gradient.
"""

import numpy as np


def rotate(turn, x, y, z):
    """Rodrigues' formula."""
    square = turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2
    cross_x = turn[1] * z - turn[2] * y
    cross_y = turn[2] * x - turn[0] * z
    cross_z = turn[0] * y - turn[1] * x
    if square == 0.0:
        return x + cross_x, y + cross_y, z + cross_z
    angle = np.sqrt(square)
    cosine = np.cos(angle)
    sine = np.sin(angle) / angle
    along = (turn[0] * x + turn[1] * y + turn[2] * z) * (1.0 - cosine) / square
    return (
        x * cosine + cross_x * sine + turn[0] * along,
        y * cosine + cross_y * sine + turn[1] * along,
        z * cosine + cross_z * sine + turn[2] * along,
    )


def project(camera, point):
    """Where a camera sees a point, in pixels from the middle of the picture."""
    x, y, z = rotate(camera[0:3], point[0], point[1], point[2])
    depth = z + camera[5]
    u = (x + camera[3]) / depth
    v = (y + camera[4]) / depth
    radius = u * u + v * v
    zoom = camera[6] * (1.0 + radius * (camera[7] + radius * camera[8]))
    return zoom * u, zoom * v


def cost(
    cameras: "f64[c,9]",
    points: "f64[p,3]",
    camera_of: "i64[m]",
    point_of: "i64[m]",
    pixels: "f64[m,2]",
) -> float:
    total = 0.0
    for m in range(camera_of.shape[0]):
        u, v = project(cameras[camera_of[m]], points[point_of[m]])
        total += (u - pixels[m, 0]) ** 2 + (v - pixels[m, 1]) ** 2
    return 0.5 * total


def residuals(
    cameras: "f64[c,9]",
    points: "f64[p,3]",
    camera_of: "i64[m]",
    point_of: "i64[m]",
    pixels: "f64[m,2]",
) -> "f64[m,2]":
    """One row for each observation: `adgen.jacobian(residuals, wrt=("cameras", "points"), sparse=True)`."""
    rows = np.zeros((camera_of.shape[0], 2))
    for m in range(camera_of.shape[0]):
        u, v = project(cameras[camera_of[m]], points[point_of[m]])
        rows[m, 0] = u - pixels[m, 0]
        rows[m, 1] = v - pixels[m, 1]
    return rows
