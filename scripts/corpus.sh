#!/usr/bin/env bash
# Fetches the texts that retrieval is measured on: the HTML documentation of three Debian packages. Safe to repeat; quick when all
# is there. Prints the folder, which holds one folder a package, on standard output.
# Cache folder: $STEWARD_CACHE, by default ~/.cache/steward. Nothing is installed and nothing is written elsewhere.
set -euo pipefail

packages=(postgresql-doc-15 debian-policy python3.11-doc)
cache=${STEWARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/steward}
corpus=$cache/corpus/debian-docs

say() { printf 'corpus: %s\n' "$*" >&2; }
die() {
  printf 'corpus: failed: %s\n' "$1" >&2
  shift
  if (($#)); then printf 'corpus:   %s\n' "$@" >&2; fi
  exit 1
}

download() { # package
  (cd "$work/$1.deb" && apt-get download -o APT::Sandbox::User= "$1") >"$work/$1.log" 2>&1 </dev/null
}

# apt's lists are absent in fresh containers, and go out of date.
update_lists() {
  local -a as_root=(env)
  if [[ $(id -u) != 0 ]]; then as_root=(sudo -n); fi
  "${as_root[@]}" apt-get update >"$work/update.log" 2>&1 </dev/null
}

fetch() { # package
  local package=$1
  local -a files
  mkdir -p "$work/$package.deb" "$work/$package"
  if ! download "$package" && ! { update_lists && download "$package"; }; then
    tail -n 8 "$work/$package.log" >&2
    die "apt could not download $package" "check the network and, as root, run: apt-get update" \
      "Debian 12 has these packages; other releases have other numbers in their names"
  fi
  mapfile -t files < <(compgen -G "$work/$package.deb/*.deb" || true)
  ((${#files[@]} == 1)) || die "$package: one file was expected, ${#files[@]} came"
  dpkg -x "${files[0]}" "$work/$package" || die "$package could not be unpacked"
  # Pictures, sources of the pages and second copies in other forms would be found instead of the pages.
  find "$work/$package" \( -type f ! -name '*.html' -o -type l \) -delete
  find "$work/$package" -type d -empty -delete
  rm -rf "${corpus:?}/$package"
  mv "$work/$package" "$corpus/$package"
  basename "${files[0]}" >"$corpus/.$package"
  say "got $(basename "${files[0]}"): $(find "$corpus/$package" -type f | wc -l) pages of HTML, $(du -sh "$corpus/$package" | cut -f1)"
}

mkdir -p "$corpus" || die "cannot write to the cache folder $cache" "set STEWARD_CACHE to a folder that you may write to"
for package in "${packages[@]}"; do
  if [[ -d $corpus/$package ]]; then continue; fi
  for program in apt-get dpkg; do
    command -v "$program" >/dev/null 2>&1 || die "this machine lacks $program, with which the texts are fetched" \
      "copy $corpus from a machine with Debian, or unpack the packages ${packages[*]} into it, one folder each"
  done
  work=${work:-$(mktemp -d "$cache/corpus/.fetch.XXXXXX")}
  trap 'rm -rf "$work"' EXIT
  say "downloading $package …"
  fetch "$package"
done
printf '%s\n' "$corpus"
