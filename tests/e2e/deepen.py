"""Makes an H.264 stream (Annex B, by x264 with B-frames) claim that it reorders 16 pictures.

Encoders stay far below what the standard allows, and decoders believe the header: with it they hold 16
pictures back and give them all at once at the end. `deepen.py IN OUT`
"""
import re
import sys

DEPTH = 16  # the most the standard allows
SPS = 7


def golomb(value):
    bits = f"{value + 1:b}"
    return "0" * (len(bits) - 1) + bits


def deepened(nal):
    """The parameter set `nal` with max_num_reorder_frames and max_dec_frame_buffering, its last two fields,
    replaced."""
    raw = nal.replace(b"\x00\x00\x03", b"\x00\x00")
    bits = "".join(f"{byte:08b}" for byte in raw).rstrip("0")[:-1]  # without the stop bit
    for reordered in (1, 2):  # what x264 writes
        for buffered in range(1, DEPTH + 1):
            tail = golomb(reordered) + golomb(buffered)
            if bits.endswith(golomb(11) * 2 + tail):  # motion vector ranges stand before them
                bits = bits[:-len(tail)] + golomb(DEPTH) * 2 + "1"
                bits += "0" * (-len(bits) % 8)
                raw = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
                return re.sub(rb"\x00\x00(?=[\x00-\x03])", b"\x00\x00\x03", raw)
    raise ValueError("no reordering found in the header")


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        nals = re.split(rb"\x00?\x00\x00\x01", file.read())[1:]
    with open(target, "wb") as file:
        for nal in nals:
            file.write(b"\x00\x00\x00\x01" + (deepened(nal) if nal[0] & 31 == SPS else nal))


if __name__ == "__main__":
    main()
