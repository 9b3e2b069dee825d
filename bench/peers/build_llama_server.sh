#!/usr/bin/env bash
# Builds llama.cpp's server from the pinned source at its best setting for this machine: build/peers/llama/bin.
set -euo pipefail
cd "$(dirname "$0")/../.."
test -x build/peers/llama/bin/llama-server && exit 0
cmake -S build/deps-src/llama.cpp -B build/peers/llama -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_CURL=OFF >/dev/null
ninja -C build/peers/llama llama-server
