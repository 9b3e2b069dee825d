"""Fetches what third_party/versions.toml pins: sources to build/deps-src, weights to build/models.

Each file is checked against its sha256 before it is opened; what is already in place is left alone.
Usage: python tools/fetch.py BUILD_DIR
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def download(pin, folder):
    """Downloads the pinned file into `folder` unless it is there with the right hash."""
    path = folder / pin["file"]
    if path.exists() and sha256(path) == pin["sha256"]:
        return path
    name = pin["package"].split("==")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--disable-pip-version-check", "-d", str(folder), pin["package"]]
    if pin["file"].endswith(".tar.gz"):
        command[5:5] = ["--no-binary", name]
    subprocess.run(command, check=True)
    if not path.exists() or sha256(path) != pin["sha256"]:
        sys.exit(f"{pin['package']}: {path.name} is absent or its sha256 is not the pinned one; "
                 f"delete {folder} and try again, or update third_party/versions.toml")
    return path


def unpack_tar(pin, archive, build):
    target = build / pin["to"]
    if target.exists():
        return
    staging = build / "unpack"
    shutil.rmtree(staging, ignore_errors=True)
    with tarfile.open(archive) as tar:
        members = [m for m in tar if m.name.startswith(pin["unpack"] + "/")]
        tar.extractall(staging, members)  # trusted: its hash is pinned
    tree = staging / pin["unpack"]
    # A stray .git file makes llama.cpp's CMake depend on an index that does not exist.
    (tree / ".git").unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    tree.rename(target)
    shutil.rmtree(staging)


def unpack_members(pin, archive, build):
    with zipfile.ZipFile(archive) as wheel:
        for member, place in pin["members"].items():
            target = build / place
            if target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = target.with_suffix(target.suffix + ".partial")
            with wheel.open(member) as source, open(partial, "wb") as sink:
                shutil.copyfileobj(source, sink)
            partial.rename(target)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = build / "dl"
    folder.mkdir(parents=True, exist_ok=True)
    pins = tomllib.loads((ROOT / "third_party/versions.toml").read_text())
    for name, pin in pins.items():
        places = [pin["to"]] if "to" in pin else list(pin.get("members", {}).values())
        if all((build / p).exists() for p in places):
            continue  # in place, or (no places) installed from third_party/python.txt
        print(f"fetch: {name} ({pin['package']})", file=sys.stderr, flush=True)
        archive = download(pin, folder)
        if "to" in pin:
            unpack_tar(pin, archive, build)
        if "members" in pin:
            unpack_members(pin, archive, build)


if __name__ == "__main__":
    main()
