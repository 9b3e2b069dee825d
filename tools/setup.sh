#!/usr/bin/env bash
# Installs what a bare Debian 12 machine lacks, fetches pinned sources and weights, builds the
# third-party engines once. Safe to run again: each step is skipped when its result is in place.
# Usage: tools/setup.sh [run|test]   run = build and main job, test = also what the tests need
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-run}

# Package names with the reason. Versions are those of Debian 12.
run_packages=(
  build-essential cmake ninja-build ccache pkg-config unzip ca-certificates  # build tools
  python3 python3-venv                                                       # fetch, convert, sample
  libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libswresample-dev libavdevice-dev
  libwebp-dev           # animated WebP, which FFmpeg 5.1 cannot read
  libyuv-dev            # decoded video to RGB, five times as fast as FFmpeg's scaler
  libjpeg62-turbo-dev   # pictures of live streams for the console
  libseccomp-dev        # sandbox of the decode worker
  libopencv-core-dev libopencv-imgproc-dev   # geometry of text boxes
  libcurl4-openssl-dev libssl-dev            # model download and its hashes
  libcli11-dev nlohmann-json3-dev libgtest-dev
  libboost1.81-dev      # HTTP server: Beast and Asio, headers only; excludes libboost-dev (1.74)
  ffmpeg espeak-ng      # make the sample
)
test_packages=(
  gir1.2-gst-rtsp-server-1.0 python3-gi gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav   # a real RTSP server
  imagemagick tmux sox                                                    # inputs, terminal tests
  chromium                                                                # the console's tests
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev                      # fuzzers, style checks
)

log() { echo "setup: $*" >&2; }

install_packages() {
  local missing=()
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  log "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local sudo=()
  ((EUID == 0)) || sudo=(sudo)
  "${sudo[@]}" apt-get update -q >&2
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

packages=("${run_packages[@]}")
[[ $what == test ]] && packages+=("${test_packages[@]}")
install_packages "${packages[@]}"

mkdir -p build
if [[ ! -x build/venv/bin/python ]]; then
  log "making the Python environment build/venv"
  /usr/bin/python3 -m venv build/venv
fi
if ! cmp -s third_party/python.txt build/venv/installed.txt; then
  build/venv/bin/pip install -q --disable-pip-version-check --require-hashes -r third_party/python.txt
  cp third_party/python.txt build/venv/installed.txt
fi
if [[ $what == test ]]; then
  if ! cmp -s third_party/python_test.txt build/venv/installed_test.txt; then
    build/venv/bin/pip install -q --disable-pip-version-check --require-hashes -r third_party/python_test.txt
    cp third_party/python_test.txt build/venv/installed_test.txt
  fi
  # promtool checks metrics and alert rules. Debian has it in a package that starts a service, so
  # the package is only unpacked.
  if [[ ! -x build/tools/promtool ]]; then
    log "unpacking promtool"
    mkdir -p build/tools/unpacked
    (cd build/tools && { apt-get download -q prometheus ||
      { apt-get update -q && apt-get download -q prometheus; }; } &&
      dpkg -x prometheus_*.deb unpacked && mv unpacked/usr/bin/promtool . && rm -r unpacked prometheus_*.deb) >&2
  fi
  # What the console is built with, by the hashes of its lock file; only tests and `make console` need it.
  if ! cmp -s console/package-lock.json console/node_modules/installed.json; then
    log "installing the console's build tools"
    tools/node.sh npm ci --ignore-scripts --loglevel=error >&2
    cp console/package-lock.json console/node_modules/installed.json
  fi
fi
build/venv/bin/python tools/fetch.py build

if [[ ! -f build/models/whisper-tiny.en.bin ]]; then
  log "converting the Whisper weights"
  build/venv/bin/python tools/convert_whisper.py build/models/whisper-ct2 build/models/whisper-tiny.en.bin
fi
if [[ ! -f build/deps/built || third_party/CMakeLists.txt -nt build/deps/built ||
      third_party/versions.toml -nt build/deps/built ]]; then
  log "building llama.cpp, mtmd and whisper.cpp (some minutes, once)"
  cmake -G Ninja -S third_party -B build/deps -DSACCADE_DEPS_SRC="$PWD/build/deps-src" >build/deps.log 2>&1 &&
    cmake --build build/deps >>build/deps.log 2>&1 || { tail -20 build/deps.log >&2; exit 1; }
  touch build/deps/built
fi
