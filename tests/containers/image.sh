#!/bin/sh
# Makes the image that the tests of containers run in, from packages of Debian and without a registry.
# It needs root, debootstrap and a Docker daemon, and takes a minute; where the image is there it does nothing.
set -eu
image=llm-loadgen-test
docker image inspect "$image" >/dev/null 2>&1 && exit 0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
debootstrap --variant=minbase --include=git,python3 stable "$folder/system" >"$folder/log" 2>&1 || {
  tail -n 20 "$folder/log" >&2
  exit 1
}
rm -rf "$folder"/system/var/cache/apt/* "$folder"/system/var/lib/apt/lists/* "$folder"/system/usr/share/doc \
  "$folder"/system/usr/share/locale "$folder"/system/usr/share/man
tar -C "$folder/system" -c . | docker import - "$image" >/dev/null
