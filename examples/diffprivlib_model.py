"""Audit a diffprivlib model, naive Bayes. Needs diffprivlib: pip install diffprivlib "scikit-learn<1.8"

`estimator` turns any class with `fit(X, y)` into a mechanism; what is published are the attributes that end in an
underscore. Without `bounds` diffprivlib takes them from the data (and warns): one outlying record moves the bounds,
the noise grows with them, and everybody sees it. A fit takes milliseconds, so draws are few: the first verdict is
"inconclusive" (the message tells what would have been seen), the second, "violated", says all.
"""

import warnings

import numpy as np

from dpso import audit_dp, estimator

try:
    from diffprivlib.models import GaussianNB
    from diffprivlib.utils import PrivacyLeakWarning
except ImportError as error:
    raise SystemExit(f'skipped: needs diffprivlib, pip install diffprivlib "scikit-learn<1.8" ({error})') from None

warnings.simplefilter("ignore", PrivacyLeakWarning)
X, y = np.linspace(0, 1, 12).reshape(12, 1), np.arange(12) % 2
outlier = X.copy()
outlier[0] = 1000.0

for bounds in ((0, 1), None):
    mechanism = estimator(GaussianNB, seed_arg="random_state", epsilon=1.0, bounds=bounds)
    result = audit_dp(mechanism, (X, y), (outlier, y), epsilon=1.0, samples=400, confidence=0.9999, seed=1)
    print(f"bounds = {bounds}:", result)
