"""Special functions of SciPy, where they are smooth."""
import numpy as np
from scipy import special, stats

X = np.array([0.3, 1.7, 0.4, 2.2, 6.5])
S = np.array([-1.3, 0.2, 2.7, -0.1])


def incomplete_gamma_functions(a=X, x=np.array([0.5, 0.9, 3.0, 9.0, 6.0])):
    return special.gammainc(a, x), special.gammaincc(a, x), special.gammainc(2.5, x[0]), special.gammaincc(x[1], 30.0)


def incomplete_beta_functions(a=X, x=np.array([0.1, 0.5, 0.9, 0.3, 0.7])):
    return special.betainc(a, 1.5, x), special.betainc(2.0, a, x), special.betainc(30.0, 20.0, x[1])


def exponential_integrals(x=X):
    return special.exp1(x), special.expi(x), special.expi(-x), special.exp1(x * 10.0), special.expi(x * 9.0)


def relatives_of_the_error_function(x=S):
    first = special.erfcx(x), special.dawsn(x), special.log_ndtr(x), special.log_ndtr(x * 9.0), special.dawsn(x * 4.0)
    return first, special.erfcx(x[2] * 9.0), special.dawsn(x[1] * 0.1)


def of_a_few_operations(x=X, y=S):
    first = special.xlog1py(x, x), special.rel_entr(x, x[::-1]), special.kl_div(x, 1.5), special.huber(1.0, y), special.pseudo_huber(x[:4], y)
    second = special.boxcox(x, 0.5), special.boxcox(x, 0.0), special.exprel(y), special.log_expit(y), special.exp10(y), special.cosm1(y)
    return first, second, special.poch(x, 2.5), special.rgamma(x), special.loggamma(x), special.cbrt(y), special.exprel(y * 1e-4)


def zeta_function(x=np.array([1.5, 2.0, 7.0]), q=0.7):
    return special.zeta(x), special.zeta(x, q), special.zeta(3.0, q)


def orthogonal_polynomials(x=S):
    first = special.eval_legendre(3, x), special.eval_chebyt(4, x), special.eval_chebyu(2, x), special.eval_legendre(0, x)
    return first, special.eval_hermite(3, x), special.eval_hermitenorm(5, x), special.eval_laguerre(4, x), special.eval_chebyt(1, x[0])


def spherical_bessel_functions(x=X):
    return special.spherical_jn(0, x), special.spherical_jn(3, x), special.spherical_yn(2, x), special.spherical_jn(1, x * 5.0)


def distributions(x=X, y=S, a=1.7, m=0.2, s=1.3):
    first = stats.expon.pdf(x, m * 0.1, s), stats.expon.cdf(x, scale=s), stats.expon.sf(x), stats.expon.logpdf(x, 0.1)
    second = stats.lognorm.pdf(x, a, scale=s), stats.lognorm.cdf(x, a), stats.lognorm.sf(x, a), stats.lognorm.logpdf(x, s=a)
    third = stats.uniform.cdf(x, -1.0, 9.0), stats.uniform.pdf(y, 3.0 * m), stats.norm.cdf(y)
    return first, second, third, stats.gamma.pdf(x, a), stats.gamma.cdf(x, a, scale=s), stats.gamma.logpdf(x, a), stats.gamma.sf(x, a)


def distributions_of_tests(x=X, y=S, a=1.7, b=2.4):
    first = stats.t.pdf(y, a), stats.t.cdf(y, a), stats.t.sf(y * 3.0, 5), stats.t.logpdf(y, df=a), stats.t.cdf(y * 9.0, b)
    second = stats.chi2.pdf(x, b), stats.chi2.cdf(x, b), stats.chi2.sf(x, 3), stats.chi2.logpdf(x, df=b), stats.t.cdf(0.001 * y, a)
    u = x * 0.1
    return first, second, stats.beta.pdf(u, a, b), stats.beta.cdf(u, a, b), stats.beta.sf(u, a, b), stats.beta.logpdf(u, 1.0, b)
