"""Bad input: one clear line that names the thing and the next step, and the right exit code."""
import os
import pathlib
import shutil

import pytest
from conftest import ROOT, SAMPLE, saccade

MINI = ROOT / "models/mini"


def check(run, code, *mentions):
    lines = [line for line in run.err.splitlines() if line.startswith("saccade: ")]
    assert run.code == code, (run.code, run.err)
    assert len(lines) == 1, run.err
    for word in mentions:
        assert word in run.err, (word, run.err)
    assert "0x" not in run.err


def test_missing_file(tmp_path):
    check(saccade("watch", tmp_path / "absent.mp4", "--json"), 5, "absent.mp4")


def test_empty_file(tmp_path):
    (tmp_path / "empty.mp4").touch()
    check(saccade("watch", tmp_path / "empty.mp4", "--json"), 3, "empty.mp4")


def test_text_named_mp4(tmp_path):
    (tmp_path / "text.mp4").write_text("this is no film\n" * 100)
    check(saccade("watch", tmp_path / "text.mp4", "--json"), 3, "text.mp4")


def test_folder(tmp_path):
    check(saccade("watch", tmp_path, "--json"), 3, tmp_path.name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path):
    path = tmp_path / "closed.mp4"
    path.write_bytes(b"x")
    path.chmod(0)
    check(saccade("watch", path, "--json"), 5, "closed.mp4")


def test_unknown_scheme():
    check(saccade("watch", "gopher://host/x", "--json"), 2, "gopher", "rtsp")


def test_dead_host_file_like():
    check(saccade("ask", "http://127.0.0.1:9/x.m3u8", "What is it?"), 5, "127.0.0.1")


def test_playlist_is_refused(tmp_path):
    (tmp_path / "list.m3u8").write_text("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n")
    run = saccade("watch", tmp_path / "list.m3u8", "--json")
    check(run, 3, "list.m3u8")
    assert "root:" not in run.out + run.err


@pytest.mark.parametrize("cut", [0.02, 0.3, 0.7])
def test_truncated_file_gives_what_it_has_or_a_clear_error(tmp_path, cut):
    data = SAMPLE.read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(data[: int(len(data) * cut)])
    run = saccade("watch", path, "--json", "--senses", "see")
    assert run.code in (0, 3), run.err


def test_unreadable_model(tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + b"\xff" * 64)
    check(saccade("watch", SAMPLE, "--json", "--model", bad), 4, "bad.gguf")
    check(saccade("watch", SAMPLE, "--json", "--model", tmp_path / "none.gguf"), 4, "none.gguf")


def test_truncated_model(tmp_path):
    data = (MINI / "saccade-mini-text-f16.gguf").read_bytes()
    for share in (0.001, 0.2, 0.9):
        path = tmp_path / "cut.gguf"
        path.write_bytes(data[: int(len(data) * share)])
        check(saccade("watch", SAMPLE, "--json", "--model", path), 4, "cut.gguf")


def test_mmproj_that_is_no_mmproj(tmp_path):
    text = tmp_path / "other.gguf"
    shutil.copy(MINI / "saccade-mini-text-f16.gguf", text)
    check(saccade("watch", SAMPLE, "--json", "--mmproj", text), 4, "other.gguf")


def test_value_out_of_range():
    check(saccade("watch", SAMPLE, "--fps", "-3"), 2, "fps", "-3")
    check(saccade("watch", SAMPLE, "--max-new-tokens", "0"), 2, "max-new-tokens", "0")


def test_unknown_option_and_key(tmp_path):
    check(saccade("watch", SAMPLE, "--promt", "x"), 2, "promt")
    config = tmp_path / "saccade.toml"
    config.write_text("fsp = 3\n")
    check(saccade("watch", SAMPLE, "--config", config), 2, "fsp", "fps")


def test_output_folder_that_is_not_there(tmp_path):
    check(saccade("watch", SAMPLE, "--out", tmp_path / "no/such/out.vtt"), 2, "out.vtt")


def test_help_needs_no_model():
    run = saccade("--help")
    assert run.code == 0 and "watch" in run.out
    for command in ("watch", "ask", "transcribe", "read", "models", "pull", "doctor", "config", "completion"):
        assert saccade(command, "--help").code == 0, command
