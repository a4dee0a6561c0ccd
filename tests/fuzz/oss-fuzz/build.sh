#!/bin/bash -eu
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the harnesses with the preset "fuzz", as OSS-Fuzz wants them: the programs, the libraries that they need and
# their corpora in $OUT. OSS-Fuzz sets CC, CFLAGS, SRC, WORK and OUT. This has not been run there.

cd "$SRC/rdmad"
build=$WORK/build

# shellcheck disable=SC2016 # $ORIGIN is for the dynamic linker
# The preset sets the sanitizers. --disable-new-dtags: the libraries find each other beside the program too.
cmake --preset fuzz -B "$build" -DCMAKE_C_COMPILER="${CC:-clang}" -DRDMAD_WERROR=OFF \
	'-DCMAKE_BUILD_RPATH=$ORIGIN/lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
ninja -C "$build" tests/fuzz/all

mkdir -p "$OUT/lib"
for source in tests/fuzz/fuzz-*.c; do
	name=$(basename "$source" .c)
	cp "$build/tests/fuzz/$name" "$OUT/"
	zip -q -j "$OUT/${name}_seed_corpus.zip" "tests/fuzz/corpus/${name#fuzz-}"/*
	# The machines that run the programs have the C library and no other.
	ldd "$build/tests/fuzz/$name" | awk '$2 == "=>" { print $3 }' |
		grep -v -E '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so' | while read -r library; do
		cp -n "$library" "$OUT/lib/"
	done
done
