"""Converts Whisper weights from CTranslate2's form to the "ggml" form that whisper.cpp reads.

Usage: python tools/convert_whisper.py IN_DIR OUT.bin

IN_DIR holds model.bin (binary version 6, WhisperSpec) and vocabulary.txt. Every shape is checked
against the rest of the model before anything is written, and OUT.bin appears whole or not at all.
"""
import os
import pathlib
import struct
import sys

import numpy as np

GGML_MAGIC = 0x67676D6C
FTYPE_F16 = 1
TYPE_F32, TYPE_F16 = 0, 1
MEL_RATE, MEL_FFT = 16_000, 400
# CTranslate2's type codes. bf16 (5) and the integer forms are not needed for published weights.
DTYPES = {0: np.dtype("<f4"), 1: np.dtype("i1"), 2: np.dtype("<i2"), 3: np.dtype("<i4"),
          4: np.dtype("<f2")}
VARIABLES_MAX = 10_000
RANK_MAX = 4


class BadInput(Exception):
    """The input is not what this tool converts; the message says what and where."""


class Reader:
    """Little-endian fields of a byte string, each checked against its end."""

    def __init__(self, data, name):
        self.data, self.name, self.at = data, name, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise BadInput(f"{self.name}: ends at byte {len(self.data)}, "
                           f"{count} more bytes expected at {self.at}")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize(code)))[0]

    def text(self):
        raw = self.take(self.number("H"))
        return bytes(raw).rstrip(b"\0").decode("utf-8", "replace")


def read_variables(path):
    """All variables of a CTranslate2 model by name, aliases resolved."""
    reader = Reader(memoryview(path.read_bytes()), path.name)
    version, spec, revision = reader.number("I"), reader.text(), reader.number("I")
    if version != 6 or spec != "WhisperSpec":
        raise BadInput(f"{path.name}: binary version {version}, spec {spec[:40]!r}, revision "
                       f"{revision}; wanted version 6 and WhisperSpec")
    count = reader.number("I")
    if count > VARIABLES_MAX:
        raise BadInput(f"{path.name}: {count} variables, at most {VARIABLES_MAX} are allowed")
    variables = {}
    for _ in range(count):
        name, rank = reader.text(), reader.number("B")
        if rank > RANK_MAX:
            raise BadInput(f"{path.name}: {name} has rank {rank}, at most {RANK_MAX} is allowed")
        shape = [reader.number("I") for _ in range(rank)]
        code, size = reader.number("B"), reader.number("I")
        if code not in DTYPES:
            raise BadInput(f"{path.name}: {name} has type code {code}; wanted {list(DTYPES)}")
        values = np.frombuffer(reader.take(size), DTYPES[code])
        if values.size != int(np.prod(shape, dtype=object)):
            raise BadInput(f"{path.name}: {name} has {values.size} values for shape {shape}")
        variables[name] = values.reshape(shape)
    for _ in range(reader.number("I")):
        alias, target = reader.text(), reader.text()
        if target not in variables:
            raise BadInput(f"{path.name}: alias {alias} names {target}, which is not there")
        variables[alias] = variables[target]
    return variables


class Weights:
    """Takes variables by name and refuses other shapes than the ones asked for."""

    def __init__(self, variables):
        self.variables = variables

    def take(self, name, *shape):
        if name not in self.variables:
            raise BadInput(f"model.bin: no variable {name}")
        value = self.variables[name]
        if shape and value.shape != shape:
            raise BadInput(f"model.bin: {name} has shape {value.shape}, wanted {shape}")
        if value.dtype.kind != "f":
            raise BadInput(f"model.bin: {name} is {value.dtype}; convert float16 or float32 "
                           "weights, not quantized ones")
        if not np.isfinite(value).all():
            raise BadInput(f"model.bin: {name} holds values that are not finite")
        return value

    def rank(self, name, rank):
        value = self.take(name)
        if value.ndim != rank:
            raise BadInput(f"model.bin: {name} has shape {value.shape}, wanted rank {rank}")
        return value

    def scalar(self, name):
        if name not in self.variables or self.variables[name].size != 1:
            raise BadInput(f"model.bin: no single number {name}")
        return int(self.variables[name].reshape(()))

    def layers(self, part):
        count = 0
        while f"{part}/layer_{count}/self_attention/linear_0/weight" in self.variables:
            count += 1
        return count


def mel_filters(mels):
    """Slaney mel filter bank [mels][MEL_FFT / 2 + 1], as librosa and OpenAI's mel_filters.npz."""
    bins = np.linspace(0, MEL_RATE / 2, MEL_FFT // 2 + 1)
    # Slaney's scale: linear up to 1000 Hz (15 mels), logarithmic above.
    step, knee_hz, knee_mel, log_step = 200 / 3, 1000.0, 15.0, np.log(6.4) / 27
    top = knee_mel + np.log(MEL_RATE / 2 / knee_hz) / log_step
    points = np.linspace(0, top, mels + 2)
    hertz = np.where(points < knee_mel, points * step,
                     knee_hz * np.exp(log_step * (points - knee_mel)))
    width = np.diff(hertz)
    slopes = hertz[:, None] - bins[None, :]
    rising = -slopes[:-2] / width[:-1, None]
    falling = slopes[2:] / width[1:, None]
    filters = np.maximum(0, np.minimum(rising, falling))
    return (filters * (2.0 / (hertz[2:] - hertz[:-2]))[:, None]).astype("<f4")


def unicode_bytes():
    """GPT-2's map from the printable stand-in of a byte back to the byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return ({chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)})


def read_tokens(path, vocabulary):
    """The plain BPE tokens as bytes; whisper.cpp adds the special ones itself."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if len(lines) != vocabulary:
        raise BadInput(f"{path.name}: {len(lines)} tokens, but the embeddings have {vocabulary}")
    if "<|endoftext|>" not in lines:
        raise BadInput(f"{path.name}: no <|endoftext|>; this is no Whisper vocabulary")
    back = unicode_bytes()
    tokens = []
    for number, line in enumerate(lines[:lines.index("<|endoftext|>")], 1):
        if any(c not in back for c in line):
            raise BadInput(f"{path.name}: line {number} is no byte-level BPE token: {line!r}")
        tokens.append(bytes(back[c] for c in line))
    return tokens


def norm(weights, source, target, width):
    yield f"{target}.weight", weights.take(f"{source}/gamma", width)
    yield f"{target}.bias", weights.take(f"{source}/beta", width)


def linear(weights, source, names, rows, columns):
    """One stacked linear layer as several; a key projection has no bias in Whisper."""
    stacked = weights.take(f"{source}/weight", rows * len(names), columns)
    biases = weights.take(f"{source}/bias", rows * len(names))
    for i, name in enumerate(names):
        yield f"{name}.weight", stacked[i * rows:(i + 1) * rows]
        bias = biases[i * rows:(i + 1) * rows]
        if not name.endswith(".key"):
            yield f"{name}.bias", bias
        elif np.any(bias):
            raise BadInput(f"model.bin: {source} has a key bias; Whisper has none")


def block(weights, source, target, width, cross):
    attention = f"{source}/self_attention"
    yield from norm(weights, f"{attention}/layer_norm", f"{target}.attn_ln", width)
    names = [f"{target}.attn.{n}" for n in ("query", "key", "value")]
    yield from linear(weights, f"{attention}/linear_0", names, width, width)
    yield from linear(weights, f"{attention}/linear_1", [f"{target}.attn.out"], width, width)
    if cross:
        attention, out = f"{source}/attention", f"{target}.cross_attn"
        yield from norm(weights, f"{attention}/layer_norm", f"{target}.cross_attn_ln", width)
        yield from linear(weights, f"{attention}/linear_0", [f"{out}.query"], width, width)
        yield from linear(weights, f"{attention}/linear_1", [f"{out}.key", f"{out}.value"], width,
                          width)
        yield from linear(weights, f"{attention}/linear_2", [f"{out}.out"], width, width)
    yield from norm(weights, f"{source}/ffn/layer_norm", f"{target}.mlp_ln", width)
    yield from linear(weights, f"{source}/ffn/linear_0", [f"{target}.mlp.0"], 4 * width, width)
    yield from linear(weights, f"{source}/ffn/linear_1", [f"{target}.mlp.2"], width, 4 * width)


def tensors(weights, sizes):
    """Every tensor whisper.cpp wants, as (name, array)."""
    width, mels = sizes["width"], sizes["mels"]
    yield "encoder.positional_embedding", weights.take("encoder/position_encodings/encodings",
                                                       sizes["audio_context"], width)
    for name, columns in (("conv1", mels), ("conv2", width)):
        yield f"encoder.{name}.weight", weights.take(f"encoder/{name}/weight", width, columns, 3)
        yield f"encoder.{name}.bias", weights.take(f"encoder/{name}/bias", width).reshape(-1, 1)
    yield from norm(weights, "encoder/layer_norm", "encoder.ln_post", width)
    for i in range(sizes["audio_layers"]):
        yield from block(weights, f"encoder/layer_{i}", f"encoder.blocks.{i}", width, False)
    yield "decoder.positional_embedding", weights.take("decoder/position_encodings/encodings",
                                                       sizes["text_context"], width)
    yield "decoder.token_embedding.weight", weights.take("decoder/embeddings/weight",
                                                         sizes["vocabulary"], width)
    yield from norm(weights, "decoder/layer_norm", "decoder.ln", width)
    for i in range(sizes["text_layers"]):
        yield from block(weights, f"decoder/layer_{i}", f"decoder.blocks.{i}", width, True)


def model_sizes(weights):
    vocabulary, width = weights.rank("decoder/embeddings/weight", 2).shape
    sizes = {
        "vocabulary": vocabulary, "width": width,
        "audio_context": weights.rank("encoder/position_encodings/encodings", 2).shape[0],
        "audio_heads": weights.scalar("encoder/num_heads"),
        "audio_layers": weights.layers("encoder"),
        "text_context": weights.rank("decoder/position_encodings/encodings", 2).shape[0],
        "text_heads": weights.scalar("decoder/num_heads"),
        "text_layers": weights.layers("decoder"),
        "mels": weights.rank("encoder/conv1/weight", 3).shape[1],
    }
    empty = [name for name, size in sizes.items() if size < 1]
    if empty:
        raise BadInput(f"model.bin: nothing found for {', '.join(empty)}")
    return sizes


def write_tensor(out, name, value):
    """Vectors, conv biases and positions stay f32, as whisper.cpp's operators want them."""
    small = value.ndim < 2 or name.endswith((".bias", ".positional_embedding"))
    value = np.ascontiguousarray(value, "<f4" if small else "<f2")
    raw = name.encode()
    out.write(struct.pack("<3i", value.ndim, len(raw), TYPE_F32 if small else TYPE_F16))
    out.write(struct.pack(f"<{value.ndim}i", *reversed(value.shape)))
    out.write(raw)
    out.write(value.tobytes())


def write_model(out, weights, sizes, tokens):
    keys = ("vocabulary", "audio_context", "width", "audio_heads", "audio_layers", "text_context",
            "width", "text_heads", "text_layers", "mels")
    out.write(struct.pack("<I11i", GGML_MAGIC, *(sizes[k] for k in keys), FTYPE_F16))
    filters = mel_filters(sizes["mels"])
    out.write(struct.pack("<2i", *filters.shape))
    out.write(filters.tobytes())
    out.write(struct.pack("<i", len(tokens)))
    for token in tokens:
        out.write(struct.pack("<I", len(token)) + token)
    for name, value in tensors(weights, sizes):
        write_tensor(out, name, value)


def convert(source, target):
    weights = Weights(read_variables(source / "model.bin"))
    sizes = model_sizes(weights)
    tokens = read_tokens(source / "vocabulary.txt", sizes["vocabulary"])
    partial = target.with_name(target.name + f".part{os.getpid()}")
    try:
        with open(partial, "wb") as out:
            write_model(out, weights, sizes, tokens)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    try:
        convert(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]))
    except (BadInput, OSError, UnicodeDecodeError) as problem:
        sys.exit(f"convert_whisper: {problem}")


if __name__ == "__main__":
    main(sys.argv[1:])
