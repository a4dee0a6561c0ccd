# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For tests that run programs of this machine in a guest, whose image has not got them.

# BUILD PLUGINS FILE...: makes the directory $stage, which goes when the shell ends, with BUILD installed, the directory PLUGINS, the
# files, and the libraries that these need. The image has the C library of this release, and perhaps some of the others.
stage_programs() {
	local build=$1 plugins=$2 file target
	local -a libraries

	shift 2
	stage=$(mktemp -d)
	trap 'rm -rf "$stage"' EXIT
	DESTDIR=$stage cmake --install "$build" --prefix /usr --strip >/dev/null
	mkdir -p "$stage$plugins"
	cp -a "$plugins/." "$stage$plugins/"
	mapfile -t libraries < <(ldd "$@" "$plugins"/*.so* 2>/dev/null | grep -o ' /[^ ]*' | sort -u |
		grep -vE "/(ld-linux.*|lib(c|m|dl|resolv)\\.so.*)\$|^ $plugins/")
	for file in "$@" "${libraries[@]}"; do
		file=${file# }
		target=$stage/usr/${file#/}
		[[ $file != /usr/* ]] || target=$stage$file
		mkdir -p "$(dirname "$target")"
		cp -L "$file" "$target"
	done
}
