#!/bin/sh
# Installs what is missing: scripts/setup.sh run|check|peers. Asks for nothing; says what it does; does nothing twice.
set -eu

need_build="gcc meson ninja-build pkg-config python3 libc6-dev libjansson-dev libinih-dev libxxhash-dev liburing-dev libcmocka-dev zlib1g-dev"
need_check="$need_build g++ clang strace gcc-mingw-w64-x86-64 libclang-rt-dev groff-base locales fio bindfs fuse3 cmake make man-db mandoc zsh fish btrfs-progs e2fsprogs"
need_peers="$need_build g++ fio libglib2.0-dev"
case "${1:-run}" in
  run) wanted=$need_build ;;
  check) wanted=$need_check ;;
  peers) wanted=$need_peers ;;
  *) echo "setup: 'run', 'check' or 'peers' expected, not '$1'" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: not a Debian system; these are needed, under the names your system has for them: $wanted" >&2
  exit 0
fi
# What may be missing. npm brings what the HTML report embeds; not every system has it in a package of its own. A browser looks
# at that report. Programs for 32 bits: only this kind of machine has them, and only where no other compiler would have to go.
extra=
command -v npm >/dev/null 2>&1 || extra="nodejs npm"
if [ "${1:-run}" = check ]; then
  command -v chromium >/dev/null 2>&1 || extra="$extra chromium fonts-dejavu-core"
  [ "$(dpkg --print-architecture)" != amd64 ] || extra="$extra gcc-multilib"
fi
lacking() {
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf ' %s' "$package"
  done
}
missing=$(lacking $wanted)
extra=$(lacking $extra)
[ -n "$missing$extra" ] || exit 0

if [ "$(id -u)" = 0 ]; then as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then as_root="sudo -n"
else
  # what only widens the tests may be missing; what the build needs may not
  for package in $need_build; do
    case "$missing " in *" $package "*) lacks="${lacks:-} $package" ;; esac
  done
  echo "setup: not root, so not installed:$missing$extra" >&2
  echo "setup: as root: apt-get install$missing$extra" >&2
  [ -z "${lacks:-}" ] || exit 2
  exit 0
fi
echo "setup: installing$missing$extra"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq || [ -z "$missing" ] || exit 2
[ -z "$missing" ] || $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
touch "$(dirname "$0")/../build.packages" # make configures again what was configured without them
# One by one where they do not come together: what cannot be had takes nothing else with it.
install_extra() { $as_root apt-get install -y -qq --no-install-recommends --no-remove "$@" >/dev/null 2>&1; }
[ -z "$extra" ] || install_extra $extra && exit 0
for package in $extra; do
  install_extra "$package" || echo "setup: not installed (not to be had, or others would have to go): $package" >&2
done
