"""Muon: momentum steps made orthogonal, for the matrices of transformer blocks.

A step has the size that AdamW would take (root mean square 0.2 of the learning rate), so both share one rate.
Matrices of one shape are treated in one batch; fused ones (q, k, v; gate, up) are split first.
"""
import torch

# One quintic per step (a, b, c): x -> a x + b x^3 + c x^5 drives singular values towards 1 (Polar Express coefficients).
QUINTICS = [(8.2872, -23.5959, 17.3004), (4.1071, -2.9478, 0.5448), (3.9487, -2.9089, 0.5518), (3.3184, -2.4885, 0.5100)]


def orthogonal(g):
    """[n, rows, cols] with rows <= cols -> nearly orthogonal rows."""
    x = g / (g.norm(dim=(1, 2), keepdim=True) * 1.01 + 1e-7)
    for a, b, c in QUINTICS:
        s = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(s, s, s, beta=b, alpha=c), x, beta=a)
    return x


class Muon(torch.optim.Optimizer):
    """params: [(matrix, number of stacked parts)]."""

    def __init__(s, params, lr, wd=0.0, momentum=0.95):
        super().__init__([p for p, _ in params], dict(lr=lr, wd=wd, momentum=momentum))
        s.parts = [k for _, k in params]

    @torch.no_grad()
    def step(s):
        group = s.param_groups[0]
        by = {}
        for p, k in zip(group["params"], s.parts):
            if p.grad is None:
                continue
            m = s.state[p].setdefault("momentum", torch.zeros_like(p))
            m.lerp_(p.grad, 1 - group["momentum"])
            for u, w in zip(p.grad.lerp(m, group["momentum"]).chunk(k), p.chunk(k)):
                flip = u.shape[0] > u.shape[1]
                by.setdefault((min(u.shape), max(u.shape)), []).append((u.mT if flip else u, w.mT if flip else w))
        for (_, cols), pairs in by.items():
            o = orthogonal(torch.stack([u for u, _ in pairs]))
            for (_, w), u in zip(pairs, o):
                w.mul_(1 - group["lr"] * group["wd"]).add_(u, alpha=-group["lr"] * 0.2 * cols ** 0.5)
