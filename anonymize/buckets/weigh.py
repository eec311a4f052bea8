"""Prototype."""
import os
import numpy as np
import scipy
P = dict(price=1.0, power=0.3, new=1.0, gap=0.02, nodes=50, top=400, integer=0)
P.update({k: float(v) for k, v in (one.split("=") for one in os.environ.get("WEIGH", "").split(",") if one)})


def further_groups(free, need, groups, signatures, m):
    usable = np.flatnonzero((signatures.sizes >= m) & (groups > 0))
    usable = usable[np.argsort(-groups[usable], kind="stable")][: int(P["top"])]
    some, _ = signatures.only(usable)
    inside = some.table().T.astype(float)  # V x B
    V, B = inside.shape
    cost = some.sizes * (1.0 + groups[usable]) ** -P["power"]
    b = (free - need).astype(float)
    eye = scipy.sparse.eye_array(V)
    # x, r, c : A x + r - c = b ; m r_v - sum r <= 0
    eq = scipy.sparse.hstack([scipy.sparse.csc_array(inside), eye, -eye], format="csc")
    ub = scipy.sparse.hstack([scipy.sparse.csc_array((V, B)), m * eye - scipy.sparse.csc_array(np.ones((V, V))), scipy.sparse.csc_array((V, V))], format="csc")
    c = np.concatenate([cost, np.full(V, P["new"]), np.full(V, P["price"])])
    n = len(c)
    bounds = np.zeros((n, 2)); bounds[:, 1] = np.inf
    bounds[B:B + V, 1] = np.maximum(free, 0)
    found = scipy.optimize.linprog(c, A_ub=ub, b_ub=np.zeros(V), A_eq=eq, b_eq=b, bounds=bounds, method="highs",
        integrality=np.concatenate([np.ones(B), np.zeros(2*V)]) if P["integer"] else None,
        options=dict(mip_rel_gap=P["gap"], **({} if not P["integer"] else {})))
    x = np.zeros(len(signatures), np.int64)
    if found.x is not None:
        x[usable] = np.floor(found.x[:B] + (1e-6 if P["integer"] else P.get("up", 1e-6)))
    return x
