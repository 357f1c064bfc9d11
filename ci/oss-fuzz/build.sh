#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets for OSS-Fuzz and ClusterFuzzLite, with the variables that these set:
#
#   CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE   how everything is compiled, and what the targets are linked with
#   SRC                                         where this repository lies, as $SRC/clharness
#   WORK OUT                                    where to build, and where the result goes
#
# And two of our own: CLHARNESS_OPENCL_HEADERS, the folder that holds CL/cl.h (default: $SRC/OpenCL-Headers, else the
# system's), and CLHARNESS_SUBJECT, a loader that was built with the same CFLAGS (default: the reference loader). The
# targets find the loader as $OUT/lib/libOpenCL.so.1.
set -euo pipefail

source=$SRC/clharness
work=${WORK:-/tmp}/clharness
headers=${CLHARNESS_OPENCL_HEADERS:-$SRC/OpenCL-Headers}
options=()
[[ ! -e $headers/CL/cl_icd.h ]] || options=(-D "CLHARNESS_OPENCL_HEADERS=$headers")

# A loader that is put back before each input writes its counts to a mapped file as it goes.
[[ ${SANITIZER-} != coverage ]] || export CFLAGS="$CFLAGS -mllvm -runtime-counter-relocation"

cmake -S "$source" -B "$work" -D CMAKE_BUILD_TYPE=None -D CLHARNESS_BUILD_TESTS=OFF -D BUILD_TESTING=OFF \
    -D CLHARNESS_SEEDED_FAULTS=OFF -D "CLHARNESS_FUZZ_ENGINE=$LIB_FUZZING_ENGINE" "${options[@]}"

targets=()
for file in "$source"/fuzz/targets/*.c; do
    target=$(basename "$file" .c)
    # Of a vendor's ICD or a Vulkan loader: none is here.
    [[ $target == vendor_icd || $target == vulkan_* ]] || targets+=("$target")
done
cmake --build "$work" --parallel "$(nproc)" --target clharness_reference_loader "${targets[@]/#/clharness_fuzz_}"

mkdir -p "$OUT/lib"
cp "${CLHARNESS_SUBJECT:-$work/harness/reference_loader/libOpenCL.so.1}" "$OUT/lib/libOpenCL.so.1"
for target in "${targets[@]}"; do
    name=clharness_$target
    cp "$work/fuzz/fuzz_$target" "$OUT/$name"
    (cd "$source" && python3 -m harness.fuzz.grown --seed-corpus "$target" "$OUT/${name}_seed_corpus.zip")
    [[ ! -e $source/fuzz/dictionaries/$target.dict ]] ||
        cp "$source/fuzz/dictionaries/$target.dict" "$OUT/$name.dict"
    cp "$source/ci/oss-fuzz/target.options" "$OUT/$name.options"
done
