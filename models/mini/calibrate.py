"""What is measured once on the finished weights and shipped beside them: calib.json (export_gguf.py writes it into the GGUF).

  keep         a linear score of visual tokens, fitted to the gradient saliency of the answers (loss gradient times token)
  resolution   which picture size an input needs, from the pooled tokens of its 96 px view: softmax regression on the smallest
               size that answers as well as 192 px
  exits        temperature of every exit, and the confidence from which its next token is the full model's 98 times in 100
  skip_layers  the decoder layer that costs least when it is left out

  python calibrate.py --ckpt run/ckpt.pt [--images 1500]

Seeds are neither those of training nor those of the held-out set. keep and resolution are reported on a fifth that they did not see;
exits and skip_layers on the pictures they were chosen on.
"""
import argparse, json, os, random
import numpy as np, torch, torch.nn.functional as F
import scenes, tok as tokmod, train
from intervals import wilson
from model import load, make_prefix, norm_img, resize

SIDES = [96, 128, 192]
CALIB_SEEDS = 9_000_000_000  # training seeds are below 2**33, held-out ones above 10**10
SCENES = [scenes.scene_shapes, scenes.scene_count, scenes.scene_number, scenes.scene_lamp, scenes.scene_sign, scenes.scene_gauge]
AGREE = 0.98  # of an exit's tokens with the full model
BATCH = 16


def batches(a, tok):
    """Stills in equal parts from every kind of scene, with their packed questions, at the three sizes."""
    d = train.Data(argparse.Namespace(drop=0, teach=0, batch=BATCH, form_a=0), 0)
    d.tok = tok
    for i in range(0, a.images, BATCH):
        sc = [SCENES[k % len(SCENES)](random.Random(CALIB_SEEDS + k)) for k in range(i, i + BATCH)]
        yield sc, d.pack([d.row(s.qas, 6) for s in sc]), \
            [norm_img(torch.from_numpy(np.stack([resize(s.images[0], side) for s in sc]))) for side in SIDES]


def measure(m, tok, a):
    """One pass over the calibration pictures."""
    pre = make_prefix(tok, 1, "B")
    out = dict(tokens=[], saliency=[], busy=[], pooled=[], right=[], aligned=[], exits={i: [] for i in range(m.c.layers)}, target=[])
    for sc, b, views in batches(a, tok):
        b = {k: torch.from_numpy(v) for k, v in b.items()}
        lab = b["lab"]
        row = (lab != -100).nonzero()[:, 0]
        right, pools = [], []
        for side, img in zip(SIDES, views):
            full = side == SIDES[-1]
            with torch.no_grad():
                it, _ = m.vit(img)
            it = it[:, None].requires_grad_(full)
            inner = dict.fromkeys(range(m.c.layers)) if full else None
            with torch.set_grad_enabled(full):
                h, _, src = train.read(m, pre, b, it, inner=inner)
                lg = m.logits(h[lab != -100])
                ok = (lg.argmax(-1) == lab[lab != -100]).float()
                right.append(torch.zeros(len(sc)).index_add(0, row, 1 - ok) == 0)
                pools.append(it[:, 0].mean(1).detach())
                if side == SIDES[0]:
                    out["pooled"].append(torch.cat([it[:, 0].mean(1), it[:, 0].amax(1)], 1).detach())
                if full:
                    F.cross_entropy(lg, lab[lab != -100], reduction="sum").backward()
                    m.zero_grad(set_to_none=True)
                    out["tokens"].append(it[:, 0].detach())
                    out["saliency"].append((it.grad * it.detach()).sum(-1).abs()[:, 0])
                    out["target"].append(lab[lab != -100])
                    for i, x in inner.items():
                        out["exits"][i].append(m.norm(x[:, src.shape[1]:][lab != -100]).detach())
        aux = np.stack([scenes.raster(s.aux[0], 6) for s in sc])
        out["busy"].append(torch.from_numpy((aux > 0).any(2)))
        out["right"].append(torch.stack(right, 1))
        out["aligned"].append(torch.stack([F.cosine_similarity(p, pools[-1], dim=-1) for p in pools[:-1]], 1))
    out["exits"] = {i: torch.cat(x) for i, x in out["exits"].items()}
    return {k: v if k == "exits" else torch.cat(v) for k, v in out.items()}


def fit_keep(x):
    """Ridge regression of log saliency (within its picture) on the token."""
    t = x["tokens"]
    y = (x["saliency"] + 1e-6).log()
    y = y - y.mean(1, keepdim=True)
    n = len(t) * 4 // 5
    c = t - t.mean(1, keepdim=True)
    A, v = c[:n].reshape(-1, t.shape[-1]).double(), y[:n].reshape(-1, 1).double()
    w = torch.linalg.solve(A.T @ A + 1e-3 * len(A) * A.var() * torch.eye(A.shape[1]), A.T @ v)[:, 0].float()
    score, half = c[n:] @ w, t.shape[1] // 2
    mass = lambda s: float((x["saliency"][n:].gather(1, s.topk(half, 1).indices).sum(1) / x["saliency"][n:].sum(1)).mean())
    kept = torch.zeros_like(score).scatter(1, score.topk(half, 1).indices, 1) > 0
    busy = x["busy"][n:]
    return dict(keep_weight=w.tolist(), keep_mass=mass(score), keep_mass_best=mass(x["saliency"][n:]),
                keep_mass_norm=mass(c[n:].norm(dim=-1)), keep_recall=float((kept & busy).sum() / busy.sum()))


def fit_resolution(x):
    """The smallest size whose answers are all right where those of 192 px are; 192 where nothing smaller is."""
    ok = x["right"]
    need = torch.full((len(ok),), len(SIDES) - 1)
    for k in reversed(range(len(SIDES) - 1)):
        need[ok[:, k]] = k
    use = ok[:, -1] | (need < len(SIDES) - 1)  # a picture that no size answers says nothing
    f, need = x["pooled"][use], need[use]
    n = len(f) * 4 // 5
    mu, sd = f[:n].mean(0), f[:n].std(0) + 1e-4
    w = torch.zeros(len(SIDES), f.shape[1], requires_grad=True)
    b = torch.zeros(len(SIDES), requires_grad=True)
    opt = torch.optim.LBFGS([w, b], max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        opt.zero_grad()
        v = F.cross_entropy((f[:n] - mu) / sd @ w.T + b, need[:n]) + 3e-2 * w.pow(2).sum()
        v.backward()
        return v
    opt.step(loss)
    with torch.no_grad():
        w2, b2 = w / sd, b - (w / sd) @ mu
        got = (f[n:] @ w2.T + b2).argmax(1)
    truth = need[n:]
    return dict(resolution_sides=SIDES, resolution_weight=w2.flatten().tolist(), resolution_bias=b2.tolist(),
                resolution_right=wilson(int((got == truth).sum()), len(got)), resolution_enough=wilson(int((got >= truth).sum()), len(got)),
                resolution_share=[float((truth == k).float().mean()) for k in range(len(SIDES))],
                resolution_chosen=[float((got == k).float().mean()) for k in range(len(SIDES))],
                pooled_alignment=dict(zip(map(str, SIDES), x["aligned"].mean(0).tolist())))


@torch.no_grad()
def fit_exits(m, x):
    last = m.c.layers - 1
    full = m.logits(x["exits"][last]).argmax(-1)
    out = []
    for i in range(1, m.c.layers):
        lg = m.logits(x["exits"][i])
        ts = torch.linspace(0.5, 4.0, 36)
        t = float(ts[torch.stack([F.cross_entropy(lg / t, x["target"]) for t in ts]).argmin()])
        conf, tok = F.softmax(lg / t, -1).max(-1)
        order = conf.argsort(descending=True)
        agree = (tok == full)[order].float().cumsum(0) / torch.arange(1, len(order) + 1)
        good = (agree >= AGREE).nonzero()
        k = int(good[-1]) if len(good) else 0
        out.append(dict(layers=i + 1, temperature=round(t, 3), confidence=float(conf[order[k]]), share=(k + 1) / len(order) if len(good) else 0.0,
                        token_accuracy=float((tok == x["target"]).float().mean())))
    return dict(exits=out)


@torch.no_grad()
def fit_skip(m, tok, a):
    """Token accuracy without each of the layers, on a few batches."""
    pre, right, n = make_prefix(tok, 1, "B"), {}, 0
    a = argparse.Namespace(**{**vars(a), "images": min(a.images, 192)})
    for _, b, views in batches(a, tok):
        b = {k: torch.from_numpy(v) for k, v in b.items()}
        lab = b["lab"][b["lab"] != -100]
        it = m.vit(views[-1])[0][:, None]
        n += len(lab)
        for i in range(-1, m.c.layers):
            h = train.read(m, pre, b, it, skip=(i,))[0]
            right[i] = right.get(i, 0) + int((m.logits(h[b["lab"] != -100]).argmax(-1) == lab).sum())
    acc = {i: right[i] / n for i in right}
    return dict(skip_layers=[max(range(m.c.layers), key=acc.get)], skip_token_accuracy={str(i): round(v, 4) for i, v in acc.items()})


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ckpt", default="run/ckpt.pt")
    ap.add_argument("--out", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "calib.json"))
    ap.add_argument("--images", type=int, default=1536)
    ap.add_argument("--threads", type=int, default=2)
    a = ap.parse_args()
    torch.set_num_threads(a.threads)
    tok = tokmod.load()
    m, d = load(a.ckpt)
    m.eval()
    x = measure(m, tok, a)
    res = dict(images=a.images, trained_images=d["state"].get("images"), **fit_keep(x), **fit_resolution(x), **fit_exits(m, x), **fit_skip(m, tok, a))
    with open(a.out, "w") as f:
        f.write(json.dumps(res, indent=1) + "\n")
    print(json.dumps({k: v for k, v in res.items() if not k.endswith("_weight")}, indent=1))


if __name__ == "__main__":
    main()
