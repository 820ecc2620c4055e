"""Interpolants of SciPy that are made when the module is loaded, where everything is smooth."""
import numpy as np
from scipy import interpolate

X = np.array([0.3, 1.7, 0.45, 2.2, 0.35])
KNOTS = np.linspace(0.0, 3.0, 7)
SINES = np.sin(KNOTS)
PRODUCTS = np.outer(SINES, np.cos(KNOTS)) + KNOTS

CURVE = interpolate.splrep(KNOTS, SINES)
SURFACE = interpolate.bisplrep(np.repeat(KNOTS, 7), np.tile(KNOTS, 7), PRODUCTS.ravel(), s=0, kx=3, ky=2)
SHEET = interpolate.RectBivariateSpline(KNOTS, KNOTS, PRODUCTS)
SMOOTH = interpolate.UnivariateSpline(KNOTS, SINES, s=0.01, k=4)
HELD = interpolate.UnivariateSpline(KNOTS, SINES, s=0, ext="const")
CUBIC = interpolate.CubicSpline(KNOTS, SINES)
SHAPED = interpolate.PchipInterpolator(KNOTS, SINES, extrapolate=False)
PERIODIC = interpolate.CubicSpline(KNOTS, np.cos(2.0 * np.pi * KNOTS / 3.0).round(12), bc_type="periodic")
LINES = interpolate.interp1d(KNOTS, SINES)
FILLED = interpolate.interp1d(KNOTS, SINES, bounds_error=False, fill_value=(-1.0, 2.0))
CURVED = interpolate.interp1d(KNOTS, SINES, kind="cubic", fill_value="extrapolate")
STEPS = interpolate.interp1d(KNOTS, SINES, kind="nearest")
BASIS = interpolate.make_interp_spline(KNOTS, SINES, k=5)
GRID = interpolate.RegularGridInterpolator((KNOTS, KNOTS * 2.0), PRODUCTS)
OPEN = interpolate.RegularGridInterpolator((KNOTS, KNOTS * 2.0), PRODUCTS, bounds_error=False, fill_value=None)


def curve(x=X, y=0.7):
    first = interpolate.splev(x, CURVE), interpolate.splev(y, CURVE, der=1), interpolate.splev(y * 5.0, CURVE)
    return first, interpolate.splev(x, CURVE, der=2), interpolate.splev(y * 5.0, CURVE, ext=1), interpolate.splev(-y, CURVE, ext=3)


def curve_of_run_time_coefficients(x=0.7, c=SINES):
    t = np.array([0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 2.5, 2.5])
    return interpolate.splev(x, (t, c, 2)), interpolate.splev(c * 0.5 + 1.1, (t, c, 2), 1)


def surface(x=0.7, y=1.3):
    first = interpolate.bisplev(x, y, SURFACE), float(interpolate.bisplev(x * y, 0.3, SURFACE)) * x
    return first, interpolate.bisplev(x, y, SURFACE, dx=1), interpolate.bisplev(7.0 * x, y, SURFACE), interpolate.bisplev(-x, y, SURFACE, 0, 1)


def surface_on_a_grid(x=np.array([0.3, 0.7, 1.9]), y=np.array([0.2, 2.2])):
    return interpolate.bisplev(x, y, SURFACE), interpolate.bisplev(0.7, y, SURFACE), interpolate.bisplev(x, 0.1, SURFACE), SHEET(x, y)


def surface_at_points(x=X, y=0.7):
    return SHEET.ev(x, x[::-1]), SHEET(x, y, grid=False), SHEET.ev(y, y * y), SHEET(y, 1.1)[0, 0], SHEET(x, y, dx=1, grid=False)


def smoothed(x=X, y=0.7):
    return SMOOTH(x), SMOOTH(y, 1), SMOOTH(y, nu=2), HELD(y * 6.0) * y, SMOOTH.derivative()(x)


def piecewise_cubics(x=X, y=0.7):
    return CUBIC(x), CUBIC(y), CUBIC(y, 1), SHAPED(x), CUBIC(y * 7.0), PERIODIC(y * 9.0), CUBIC.antiderivative()(x)


def tabulated(x=X, y=0.7):
    return LINES(x), LINES(y), FILLED(x * 2.0), CURVED(x * 2.0), CURVED(y), BASIS(x), BASIS(y, 2)


def on_a_regular_grid(x=X, y=0.7):
    points = np.stack([x, x[::-1] * y], axis=1)
    return GRID(points), GRID([y, 2.0 * y]), GRID((y, 2.0 * y)), GRID((x, y)), OPEN((y * 6.0, y)) * y


def nearest_values(x=0.7):
    return STEPS(x) * x, STEPS(x * 3.9)


def made_when_compiling(x=X):
    return interpolate.CubicSpline(KNOTS, SINES)(x) + interpolate.interp1d(KNOTS, SINES)(x)
