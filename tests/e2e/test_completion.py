"""The completion scripts, tried in the shells themselves: what a Tab offers behind a command line."""
import shutil
import subprocess

import pytest
from conftest import SACCADE, saccade

BASH = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _saccade; printf '%s\\n' "${COMPREPLY[@]}" """
FISH = 'source $argv[1]; complete -C "$argv[2..-1]"'
# A terminal is needed, as zsh completes nowhere else. Tab lists what there is, then prints a mark.
ZSH = """zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell "PS1=; autoload -Uz compinit && compinit -u -D; source $1
listed() { zle list-choices; zle -R; print; print do''ne }; zle -N listed; bindkey '^I' listed
stty -echo cols 300; print rea''dy"
zpty -r shell out '*ready*'
zpty -n -w shell "$2"$'\\t'
zpty -r shell out '*done*'
print -r -- "$out" """


def offers(shell, script, line):
    """Words that `shell` offers for the last word of `line`."""
    if shell == "bash":
        command = ["bash", "--norc", "-c", BASH, "bash", script, *line.split(" ")]
    elif shell == "fish":
        command = ["fish", "--no-config", "-c", FISH, script, line]
    else:
        command = ["zsh", "-f", "-c", ZSH, "zsh", script, line]
    out = subprocess.run(command, capture_output=True, text=True, timeout=30, cwd=script.parent,
                         env={"PATH": f"{SACCADE.parent}:/usr/bin:/bin", "HOME": str(script.parent),
                              "TERM": "dumb", "LANG": "C.UTF-8"})
    assert not out.stderr, out.stderr
    return set(out.stdout.replace("\t", " ").split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_flags_values_and_files_are_offered(shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    script = tmp_path / f"saccade.{shell}"
    script.write_text(saccade("completion", shell).out)
    (tmp_path / "door.mp4").touch()
    (tmp_path / "models").mkdir()

    assert {"watch", "transcribe"} <= offers(shell, script, "saccade ")
    assert "models" in offers(shell, script, "saccade mod")
    assert {"--fps", "--json"} <= offers(shell, script, "saccade watch --")
    assert "--fps" not in offers(shell, script, "saccade completion --")
    assert {"auto", "on", "off"} <= offers(shell, script, "saccade watch --context-lines ")
    assert "door.mp4" in offers(shell, script, "saccade watch do")
    assert "door.mp4" in offers(shell, script, "saccade watch x.mp4 --out do")
    assert "door.mp4" not in offers(shell, script, "saccade watch --fps ")
    assert {"show", "sample"} <= offers(shell, script, "saccade config ")
    assert "--origin" in offers(shell, script, "saccade config show --")
    assert {"bash", "zsh", "fish"} <= offers(shell, script, "saccade completion ")
    assert "door.mp4" not in offers(shell, script, "saccade completion ")
    assert "door.mp4" not in offers(shell, script, "saccade pull ")
