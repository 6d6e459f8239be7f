#!/bin/bash
# Runs the README's commands in a fresh Debian root, where nothing is installed but what a user
# has: what this machine has by chance is missing there.
#
#   scripts/fresh.sh [--release NAME] [--keep] [STEP...]
#
#   demo      `make demo` alone, as root
#   test      `make test` alone, as root
#   user      both as an ordinary user: the line that they print is what root runs before
#   readme    the README's blocks, with the lines that begin with sudo
#   built     the demo with what is built already (build/stage): only its list is installed
#   packages  packing and trying packages with what is built already and only their list
#   elsewhere packages that were made on this machine (build/packages), installed as the README says
#   matrix    programs with every compiler that the release has, and what is built already; counts
#             go to tests/matrix/results
#   compilers one program with each compiler that Debian 12 does not have, and what is built already
#   docs      the documentation with only its list
#   shell     a shell in a root with nothing but make and git
#
# Without a step: demo, test, user and readme, two hours on two cores. --release: `bookworm`
# (default), `trixie`, `sid`. The tree is what is committed; build/stage comes along for those steps
# that say so. Each step has a root of its own above one that is made once and kept under
# build/fresh, as are downloaded packages. --keep leaves the steps' roots there, to be looked at.
#
# Needs root, and mmdebstrap to make the first root. The network's settings of this machine come
# along: proxies, resolv.conf, certificates of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly all=(demo test user readme)
release=bookworm keep=
steps=()
usage() {
  sed -n '2,/^set -/s/^# \{0,1\}//p' "$0"
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    --release) release=${2:?a name}; shift ;;
    --keep) keep=yes ;;
    demo | test | user | readme | built | packages | elsewhere | matrix | compilers | docs | shell) steps+=("$1") ;;
    *) usage >&2 ;;
  esac
  shift
done
[ ${#steps[@]} -gt 0 ] || steps=("${all[@]}")

fail() {
  echo "fresh: $*" >&2
  exit 1
}

[ "$(id -u)" -eq 0 ] || fail "mounting roots needs root: sudo make fresh"
# Inside of such a root there is nothing to be learnt from another one.
[ -z "${GANGWAY_FRESH:-}" ] || fail "this is a fresh root already"

readonly folder=$PWD/build/fresh top=$PWD
readonly base=$folder/$release/base
export PATH="$PATH:/usr/sbin:/sbin"

[[ " ${steps[*]} " != *" elsewhere "* ]] || [ -f build/packages/SHA256SUMS ] || fail "build/packages has no packages: make packages"

# What every root has: apt, and what a user installs before `make`.
make_base() {
  [ ! -e "$base/.made" ] || return 0
  command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing: apt-get install mmdebstrap"
  echo "fresh: making a root of $release"
  rm -rf "$base"
  mkdir -p "$folder/$release"
  # A mirror that stands still has lists that are no longer valid: what it offers is what is tried.
  mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"' --variant=apt \
    --include=make,git,ca-certificates "$release" "$base"
  touch "$base/.made"
}

# network ROOT: this machine's way to the network.
network() {
  local certificates=/usr/local/share/ca-certificates
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
  cp /etc/hosts "$1/etc/hosts"
  if [ -n "$(ls -A "$certificates" 2>/dev/null)" ]; then
    mkdir -p "$1$certificates"
    cp -r "$certificates/." "$1$certificates/"
  fi
}

# A root for one step, and what is run there: `inside` below, in namespaces of its own, so that
# nothing stays mounted and no process outlives it.
run_step() {
  local step=$1 root=$folder/$release/$1
  rm -rf "$root"
  mkdir -p "$root"/{upper,work,merged} "$folder/archives/$release/partial"
  export GANGWAY_FRESH=$step
  unshare --mount --pid --fork --kill-child --propagation private \
    bash -euo pipefail -c "$(declare -f inside network); inside \"\$@\"" fresh "$step" "$root" "$base" "$top" \
    "$folder/archives/$release"
}

# inside STEP ROOT BASE TOP ARCHIVES
inside() {
  local step=$1 root=$2/merged top=$4 user=root home=/root variable kept=()
  mount -t overlay overlay -o "lowerdir=$3,upperdir=$2/upper,workdir=$2/work" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount --bind "$5" "$root/var/cache/apt/archives"
  network "$root"
  mkdir "$root/src"
  git -c safe.directory='*' clone --quiet --no-hardlinks "file://$top" "$root/src/gangway"
  case $step in
    built | packages | matrix | compilers | docs)
      mkdir "$root/src/gangway/build"
      cp -a "$top/build/stage" "$root/src/gangway/build/stage"
      ;;
    elsewhere)
      mkdir "$root/src/gangway/build"
      cp -a "$top/build/packages" "$root/src/gangway/build/packages"
      ;;
  esac
  for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY CI; do
    [ -z "${!variable:-}" ] || kept+=("$variable=${!variable}")
  done
  in_root() { # USER COMMAND
    local home=/root
    [ "$1" = root ] || home=/home/$1
    chroot "$root" /usr/bin/env -i "HOME=$home" "USER=$1" LANG=C.UTF-8 TERM="${TERM:-dumb}" GANGWAY_FRESH="$step" \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${kept[@]}" \
      /usr/sbin/runuser --user "$1" -- /bin/bash -euo pipefail -c "cd /src/gangway; $2"
  }
  in_root root 'update-ca-certificates >/dev/null 2>&1; apt-get update -q >/dev/null'
  case $step in
    demo) in_root root 'make demo' ;;
    test) in_root root 'make test' ;;
    readme) in_root root 'make build; scripts/readme-test.sh' ;;
    built) in_root root 'scripts/bootstrap.sh demo; scripts/demo.sh' ;;
    packages) in_root root 'scripts/bootstrap.sh packages; scripts/packages.sh build/stage; scripts/packages-test.sh build/stage' ;;
    matrix)
      local status=0 number results=build/matrix/results.tsv
      in_root root "scripts/bootstrap.sh matrix; scripts/matrix.sh $results ${MATRIX_ARGS:-}" || status=$?
      for number in 19 20 21 23; do
        in_root root "apt-cache show clang-$number >/dev/null 2>&1" || continue
        in_root root "scripts/bootstrap.sh clang-$number; scripts/matrix.sh $results ${MATRIX_ARGS:-} clang-$number" || status=$?
      done
      cp "$root/src/gangway/build/matrix/results.tsv" "$top/tests/matrix/results/$(basename "$(dirname "$2")").tsv"
      return "$status"
      ;;
    compilers)
      # Sid's packages do not fit together on every day.
      if in_root root 'scripts/bootstrap.sh compilers'; then
        in_root root 'scripts/matrix.sh build/matrix/results.tsv --brief'
      else
        echo 'fresh: not run: the packages of these compilers cannot be installed'
        echo 'test result: ok. 0 passed; 0 failed; 1 ignored'
      fi
      ;;
    elsewhere) in_root root 'scripts/packages-elsewhere.sh' ;;
    docs) in_root root 'scripts/bootstrap.sh docs; scripts/docs.sh' ;;
    shell) in_root root 'exec bash' ;;
    user)
      in_root root 'useradd --create-home visitor; chown -R visitor: /src/gangway'
      # What it says is missing is what root installs, word for word.
      local line
      for target in demo test; do
        line=$(in_root visitor "make $target 2>&1 || true" | sed -n 's/^ *sudo \(apt-get update && \)sudo \(apt-get install .*\)/\1\2/p')
        [ -n "$line" ] || { echo "fresh: make $target did not say what to install" >&2; return 1; }
        in_root root "export DEBIAN_FRONTEND=noninteractive; $line"
        in_root visitor "make $target"
      done
      ;;
  esac
}

make_base
failed=()
for step in "${steps[@]}"; do
  start=$SECONDS
  printf '\n=== fresh %s: %s\n' "$release" "$step"
  if run_step "$step"; then
    echo "=== fresh $release: $step passed in $((SECONDS - start)) s"
  else
    echo "=== fresh $release: $step FAILED after $((SECONDS - start)) s"
    failed+=("$step")
  fi
  [ -n "$keep" ] || rm -rf "${folder:?}/$release/$step"
done
[ ${#failed[@]} -eq 0 ] || fail "failed: ${failed[*]}"
echo "fresh: ${#steps[@]} of ${#steps[@]} steps passed on $release"
