"""Audit Opacus from a single training run, with canaries. Needs Opacus: pip install opacus

Ten full-batch steps of logistic regression. Opacus clips the gradient of each record to length C, adds them up, and
adds Gaussian noise of z·C a coordinate: to add or remove a record costs μ = √T/z of Gaussian DP. Each canary is a
record with a feature of its own, in the data with probability ½; its score is the weight of that feature. The mistake:
the optimizer that `make_private` was given is stepped, not the one that it returns: nothing is clipped, nor noised.
"""

import warnings

import numpy as np

from dpso import audit_one_run, with_canaries

try:
    import torch
    from opacus import PrivacyEngine
except ImportError as error:
    raise SystemExit(f"skipped: needs Opacus, pip install opacus ({error})") from None

warnings.simplefilter("ignore")  # of hooks inside Opacus
STEPS, C, RECORDS, CANARIES = 10, 1.0, 100, 2500
Z = np.sqrt(STEPS)
MU = np.sqrt(STEPS) / Z


def train(X, y, private):
    """The weights; with `private` the optimizer that Opacus returns is the one that steps."""
    model = torch.nn.Linear(X.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.tensor(X).float(), torch.tensor(y).float())
    loader = torch.utils.data.DataLoader(data, batch_size=len(data))
    settings = {"noise_multiplier": Z, "max_grad_norm": C, "loss_reduction": "sum", "poisson_sampling": False}
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model, optimizer=plain, data_loader=loader, **settings
    )
    stepped = optimizer if private else plain
    for _ in range(STEPS):
        for rows, labels in loader:
            stepped.zero_grad()
            torch.nn.functional.softplus(-labels * model(rows)[:, 0]).sum().backward()
            stepped.step()
    return next(model.parameters()).detach().numpy()[0]


rng = np.random.default_rng(1)
torch.manual_seed(1)
X = np.zeros((RECORDS, 5 + CANARIES))
X[:, :5] = rng.normal(size=(RECORDS, 5))
y = np.where(X[:, 0] > 0, 1.0, -1.0)
canaries = np.zeros((CANARIES, 5 + CANARIES))
canaries[np.arange(CANARIES), 5 + np.arange(CANARIES)] = 20.0
for name, private in (("the optimizer that is returned", True), ("the one that was handed in", False)):
    features, labels, included = with_canaries(X, y, canaries, np.ones(CANARIES), rng)
    weights = train(features, labels, private)
    print(f"{name}:", audit_one_run(weights[5:], included, mu=MU, confidence=0.95))
