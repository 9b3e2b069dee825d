"""Pictures that broke similar systems, through the whole program: each test is named after the kind of
fault, with the report that told of it. What decoding alone must do with them is tested in src/ingest;
here text that must (or must not) be read shows that the right pixels arrived."""
import pytest
from conftest import ROOT, saccade
from PIL import Image, ImageDraw, ImageFont
from score import edit_distance

FONT = ROOT / "models/mini/fonts/DejaVuSans.ttf"
SHOWN, HIDDEN = "VALVE 42 OPEN", "SECRET 77"


def font(size):
    return ImageFont.truetype(str(FONT), size)


def sign(mode, background, ink, text=SHOWN, size=(480, 160)):
    picture = Image.new(mode, size, background)
    ImageDraw.Draw(picture).text((40, 60), text, font=font(32), fill=ink)
    return picture


def read(path):
    run = saccade("read", path)
    assert run.code == 0, run.err
    return run.out.split("\n")[:-1]


def transparent(mode):
    """SHOWN in opaque ink; around it pixels of alpha 0 that hold other text, were they shown."""
    base = sign("RGBA", (200, 30, 30, 0), (0, 0, 0, 255))
    hidden = Image.new("L", base.size, 0)
    ImageDraw.Draw(hidden).text((40, 110), HIDDEN, font=font(32), fill=255)
    base.paste((0, 0, 0, 0), (0, 0), hidden)
    if mode == "P":
        colours = Image.new("P", base.size, 0)
        colours.putpalette([200, 30, 30, 0, 0, 0, 0, 0, 0])
        colours.paste(1, (0, 0), hidden)
        colours.paste(2, (0, 0), base.getchannel("A").point(lambda a: 255 if a > 127 else 0))
        return colours
    return base.convert(mode)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_hidden_colours_under_transparency_are_not_read(mode, tmp_path):
    """vllm-project/vllm#18569, #22052."""
    transparency = {"transparency": bytes([0, 0, 255])} if mode == "P" else {}
    transparent(mode).save(tmp_path / "a.png", **transparency)
    assert read(tmp_path / "a.png") == [SHOWN]


def test_grey_with_alpha_has_two_channels(tmp_path):
    """RapidAI/RapidOCR#115."""
    sign("LA", (255, 255), (0, 255)).save(tmp_path / "a.png")
    assert read(tmp_path / "a.png") == [SHOWN]


def test_palette_animation_gives_its_first_frame(tmp_path):
    """valentinfrlch/ha-llmvision#54."""
    frames = [sign("RGB", (255, 255, 255), (0, 0, 0), text).quantize(8)
              for text in [SHOWN, *(f"FRAME {n}" for n in range(2, 9))]]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:], duration=100)
    assert read(tmp_path / "a.gif") == [SHOWN]


@pytest.mark.parametrize("kind", ["lossy", "lossless", "alpha", "animated"])
def test_webp_of_every_kind_is_decoded(kind, tmp_path):
    """cline/cline#8977, abetlen/llama-cpp-python#1140, ollama/ollama#17755."""
    opaque = sign("RGB", (255, 255, 255), (0, 0, 0))
    if kind == "alpha":
        transparent("RGBA").save(tmp_path / "a.webp", lossless=True, exact=True)
    elif kind == "animated":
        opaque.save(tmp_path / "a.webp", save_all=True, append_images=[opaque.rotate(180)], duration=100)
    else:
        opaque.save(tmp_path / "a.webp", lossless=kind == "lossless", quality=90)
    assert read(tmp_path / "a.webp") == [SHOWN]


def damaged(kind, folder):
    path = folder / f"damaged-{kind}"
    sign("RGB", (255, 255, 255), (0, 0, 0)).save(folder / "whole.jpg")
    Image.effect_noise((480, 160), 90).save(folder / "whole.png")
    jpeg, png = (folder / "whole.jpg").read_bytes(), (folder / "whole.png").read_bytes()
    first_data = png.index(b"IDAT") + 4
    path.write_bytes({"cut.jpg": jpeg[:-128], "broken.png": png[:first_data + 20] + bytes(400) + png[first_data + 420:],
                      "empty.png": b"", "text.png": b"This is no picture.\n" * 20}[kind])
    return path


@pytest.mark.parametrize("kind", ["cut.jpg", "broken.png", "empty.png", "text.png"])
def test_damaged_pictures_are_one_fixed_line_without_decoder_text(kind, tmp_path):
    """vllm-project/vllm#38253, sgl-project/sglang#35007."""
    run = saccade("read", damaged(kind, tmp_path))
    assert run.code == 3 and run.out == "", (run.code, run.out)
    lines = run.err.splitlines()
    assert lines[0].startswith("saccade: ") and kind in lines[0] and len(lines) <= 2, run.err
    for word in ("0x", "AVERROR", "libav", "zlib", "CRC", "[png", "[mjpeg"):
        assert word not in run.err, run.err


def test_any_aspect_ratio_can_be_asked_about(tmp_path):
    """ggml-org/llama.cpp#13827."""
    for width, height in [(400, 800), (800, 400), (1000, 10), (10, 1000), (2000, 40), (513, 511), (1, 1)]:
        path = tmp_path / f"{width}x{height}.png"
        Image.new("RGB", (width, height), (255, 255, 255)).save(path)
        run = saccade("ask", path, "What do you see?")
        assert run.code == 0 and run.out.strip(), (width, height, run.err)


def test_a_saturated_checkerboard_does_not_overflow_the_eye(tmp_path):
    """Blaizzy/mlx-vlm#1163, vllm-project/vllm#48231."""
    board = Image.new("RGB", (512, 512))
    board.putdata([(255, 255, 255) if (x // 8 + y // 8) % 2 else (0, 0, 0)
                   for y in range(512) for x in range(512)])
    board.save(tmp_path / "a.png")
    run = saccade("ask", tmp_path / "a.png", "What do you see?")
    assert run.code == 0, run.err
    assert set(run.out.strip()) - set("! \n"), run.out


def test_blank_pictures_and_strips(tmp_path):
    """PaddlePaddle/PaddleOCR#14130, RapidAI/RapidOCR#130."""
    Image.new("RGB", (3840, 2160), (255, 255, 255)).save(tmp_path / "blank.png")
    assert read(tmp_path / "blank.png") == []
    strip = Image.new("RGB", (2000, 40), (255, 255, 255))
    ImageDraw.Draw(strip).text((700, 6), SHOWN, font=font(24), fill=(0, 0, 0))
    strip.save(tmp_path / "wide.png")
    assert read(tmp_path / "wide.png") == [SHOWN]
    strip.transpose(Image.Transpose.ROTATE_270).save(tmp_path / "tall.png")
    assert read(tmp_path / "tall.png") == [SHOWN]


def test_small_text_on_a_big_page_is_read(tmp_path):
    """A page of six megapixels with ten-pixel type: more than a live picture is searched at."""
    lines = [f"Row {row}: pump {row * 7 % 10} holds {row * 13 % 97}.{row % 10} bar, gate {chr(65 + row % 26)} is open,"
             f" tank level {row * 29 % 100} percent, next check at {row % 24}:15" for row in range(1, 21)]
    page = Image.new("RGB", (3000, 2000), (255, 255, 255))
    for row, text in enumerate(lines):
        ImageDraw.Draw(page).text((100 + row % 3 * 40, 40 + row * 32), text, font=font(10), fill=(0, 0, 0))
    page.save(tmp_path / "page.png")
    got = read(tmp_path / "page.png")
    errors = sum(min((edit_distance(text, line) for line in got), default=len(text)) for text in lines)
    assert errors <= 0.03 * sum(map(len, lines)), got
