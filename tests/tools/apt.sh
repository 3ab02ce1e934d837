# Installs Debian packages where that is possible: as root, with apt.

# apt_get PACKAGE PROGRAM: succeeds if the program exists afterwards.
apt_get() {
  have "$2" && return 0
  [ "$(id -u)" = 0 ] && have apt-get || return 1
  if [ -z "${apt_updated-}" ]; then apt-get -qq update >/dev/null 2>&1 || true; apt_updated=yes; fi
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$1" >/dev/null 2>&1
  have "$2"
}

# apt_get_library PACKAGE: the same for a package without a program.
apt_get_library() {
  is_installed() { have dpkg-query && [ "$(dpkg-query -Wf '${Status}' "$1" 2>/dev/null)" = "install ok installed" ]; }
  is_installed "$1" && return 0
  apt_get "$1" "$1" || is_installed "$1"
}
