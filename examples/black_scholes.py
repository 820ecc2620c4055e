"""The Black-Scholes price of a European call, and the value of a book of them.

    adgen compile examples/black_scholes.py

Expect the Greeks: `call_grad(spot, strike, maturity, rate, volatility)` has delta in `.spot` (the normal distribution
function of d1), vega in `.volatility`, rho in `.rate` and minus theta in `.maturity`.  `book` gives them for many
options at once, at about twice the cost of the prices.
"""

import math


def normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def call(spot: float, strike: float, maturity: float, rate: float, volatility: float) -> float:
    spread = volatility * math.sqrt(maturity)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * math.exp(-rate * maturity) * normal_cdf(d2)


def book(
    amounts: "f64[n]",
    spots: "f64[n]",
    strikes: "f64[n]",
    maturities: "f64[n]",
    rate: float,
    volatility: "f64[n]",
) -> float:
    total = 0.0
    for i in range(len(amounts)):
        total += amounts[i] * call(spots[i], strikes[i], maturities[i], rate, volatility[i])
    return total
