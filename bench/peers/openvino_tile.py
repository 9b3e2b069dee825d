"""One SmolVLM-256M-shaped vision tile on OpenVINO, F32, random weights: the time to beat.

  python bench/peers/openvino_tile.py [--rounds N] [--threads N]

Prints one JSON line with the median, lowest and highest milliseconds. The arithmetic does not depend
on the weights' values, so random ones are as good as those of the peer in the same table.
"""
import argparse
import json
import time

import numpy as np
import openvino as ov
from openvino import opset13 as op

SIDE, PATCH, WIDTH, LAYERS, HEADS, INNER, MERGE, OUT = 512, 16, 768, 12, 12, 3072, 4, 576
TOKENS = (SIDE // PATCH) ** 2
HEAD = WIDTH // HEADS


def weights(rng, *shape):
    return op.constant(rng.standard_normal(shape, dtype=np.float32) * np.float32(shape[-1] ** -0.5))


def linear(rng, x, inputs, outputs):
    return op.add(op.matmul(x, weights(rng, outputs, inputs), False, True), weights(rng, 1, outputs))


def layer_norm(rng, x):
    x = op.mvn(x, op.constant(np.array([-1], dtype=np.int64)), True, 1e-6, "inside_sqrt")
    return op.add(op.multiply(x, weights(rng, 1, WIDTH)), weights(rng, 1, WIDTH))


def heads_of(x):
    x = op.reshape(x, op.constant(np.array([1, TOKENS, HEADS, HEAD], dtype=np.int64)), False)
    return op.transpose(x, op.constant(np.array([0, 2, 1, 3], dtype=np.int64)))


def attention(rng, x):
    q, k, v = (heads_of(linear(rng, x, WIDTH, WIDTH)) for _ in range(3))
    out = op.scaled_dot_product_attention(q, k, v)
    out = op.transpose(out, op.constant(np.array([0, 2, 1, 3], dtype=np.int64)))
    out = op.reshape(out, op.constant(np.array([1, TOKENS, WIDTH], dtype=np.int64)), False)
    return linear(rng, out, WIDTH, WIDTH)


def tower():
    rng = np.random.default_rng(1)
    picture = op.parameter([1, TOKENS, PATCH * PATCH * 3], np.float32)
    x = op.add(linear(rng, picture, PATCH * PATCH * 3, WIDTH), weights(rng, TOKENS, WIDTH))
    for _ in range(LAYERS):
        x = op.add(x, attention(rng, layer_norm(rng, x)))
        inner = op.gelu(linear(rng, layer_norm(rng, x), WIDTH, INNER), "tanh")
        x = op.add(x, linear(rng, inner, INNER, WIDTH))
    x = layer_norm(rng, x)
    side = SIDE // PATCH
    x = op.reshape(x, op.constant(np.array([side // MERGE, MERGE, side // MERGE, MERGE * WIDTH],
                                           dtype=np.int64)), False)
    x = op.transpose(x, op.constant(np.array([0, 2, 1, 3], dtype=np.int64)))
    x = op.reshape(x, op.constant(np.array([1, TOKENS // MERGE ** 2, MERGE * MERGE * WIDTH],
                                           dtype=np.int64)), False)
    return ov.Model([op.matmul(x, weights(rng, OUT, WIDTH * MERGE * MERGE), False, True)], [picture])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    compiled = ov.Core().compile_model(tower(), "CPU", {
        "INFERENCE_NUM_THREADS": options.threads, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    picture = np.random.default_rng(2).standard_normal((1, TOKENS, PATCH * PATCH * 3), dtype=np.float32)
    times = []
    for i in range(options.rounds + 1):
        start = time.perf_counter()
        request.infer([picture])
        if i:  # the first run warms caches
            times.append(1000 * (time.perf_counter() - start))
    times.sort()
    print(json.dumps({"openvino_ms": times[len(times) // 2], "low": times[0], "high": times[-1],
                      "samples": len(times), "threads": options.threads}))


if __name__ == "__main__":
    main()
