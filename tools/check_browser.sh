#!/bin/sh
# Check the types and the style of the browser components, where Node.js and the packages of `npm ci` are.
set -eu
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null 2>&1; then
    echo "Node.js is missing: types and style of the browser components were not checked."
elif [ ! -d node_modules/typescript ]; then
    echo "The packages of package-lock.json are missing (npm ci): types and style of the browser components were not checked."
else
    echo "tsc and biome: views tests/views/widgets"
    npm run --silent types
    npm run --silent lint
fi
