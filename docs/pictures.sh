#!/usr/bin/env bash
# Draws the pictures of README.md and writes docs/apple.html again, here or in another folder:
#     bash docs/pictures.sh [FOLDER]
# ATTUNE names the program; without it, the program is built first. tests/command_line/readme.rs runs these commands too, and
# compares what they make with what is here.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-.}
mkdir -p "$folder/assets" "$folder/docs"
attune() { ${ATTUNE:-cargo run --release --locked --} "$@"; }

attune render lessons/apple.ron --size 800x450 -o "$folder/assets/apple.gif"
attune render lessons/apple.ron --workspace --size 1280x720 -o "$folder/assets/workspace.png"
attune render lessons/qkv.ron --workspace --cell move --theme dark --size 1280x720 -o "$folder/assets/fold.png"
attune export lessons/apple.ron --to web -o "$folder/docs/apple.html"
