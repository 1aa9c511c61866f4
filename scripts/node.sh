# Sourced: sets what finds Node.js, $cache must be set. `use_node` succeeds when `node` and `npm` are new enough, and puts those
# of the cache folder first where the system's are not.
node_want=20.19.0

node_fits() { # folder, or nothing for PATH
  local have
  have=$("${1:+$1/}node" --version 2>/dev/null) || return 1
  command -v "${1:+$1/}npm" >/dev/null 2>&1 || return 1
  [[ $(printf '%s\n%s\n' "$node_want" "${have#v}" | sort -V | head -n 1) == "$node_want" ]]
}

use_node() {
  if node_fits ""; then return 0; fi
  node_fits "$cache/node/bin" || return 1
  PATH=$cache/node/bin:$PATH
}
