#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints golden rows of occupancy_golden.csv, by CUDA's own cuda_occupancy.h: needs a toolkit and a C compiler.

Each row: compute capability, warps, blocks, registers and shared bytes of a multiprocessor; threads, registers,
static and dynamic shared bytes of a block; blocks that fit.
"""
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <cuda_occupancy.h>
#include <stdio.h>
#include <string.h>
static const int devices[][4] = {{60, 2048, 65536, 98304}, {75, 1024, 65536, 65536}, {80, 2048, 167936, 166912},
                                 {86, 1536, 102400, 101376}, {89, 1536, 102400, 101376}, {90, 2048, 233472, 232448}};
int main(void) {
  unsigned state = 7;
  for (int row = 0; row < 96; ++row) {
    struct cudaOccDeviceProp p;
    struct cudaOccFuncAttributes f;
    struct cudaOccDeviceState s;
    struct cudaOccResult r;
    memset(&p, 0, sizeof p); memset(&f, 0, sizeof f); memset(&s, 0, sizeof s);
    const int *d = devices[row % 6];
    p.computeMajor = d[0] / 10; p.computeMinor = d[0] % 10;
    p.maxThreadsPerBlock = 1024; p.maxThreadsPerMultiprocessor = d[1];
    p.regsPerBlock = p.regsPerMultiprocessor = 65536; p.warpSize = 32;
    p.sharedMemPerBlock = 49152; p.numSms = 132;
    p.sharedMemPerMultiprocessor = row % 6 == 0 ? 65536 : d[2];
    p.sharedMemPerBlockOptin = row % 6 == 0 ? 49152 : d[3];
    if (row % 6 == 1) { p.sharedMemPerMultiprocessor = 65536; p.sharedMemPerBlockOptin = 65536; }
    p.reservedSharedMemPerBlock = d[0] >= 80 ? 1024 : 0;
    state = state * 1664525u + 1013904223u; f.numRegs = 16 + (state >> 8) % 112;
    state = state * 1664525u + 1013904223u; int threads = 32 + (state >> 8) % 481;
    state = state * 1664525u + 1013904223u; f.sharedSizeBytes = row % 3 ? (state >> 8) % 8192 : 0;
    state = state * 1664525u + 1013904223u; size_t dynamic = row % 4 ? (state >> 8) % 40000 : 0;
    f.maxThreadsPerBlock = 1024; f.partitionedGCConfig = PARTITIONED_GC_OFF;
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; f.maxDynamicSharedSizeBytes = 1 << 20;
    s.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED; s.cacheConfig = CACHE_PREFER_SHARED;
    int per_sm = 0;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, threads, dynamic);
    if (error || cudaOccMaxBlocksPerMultiprocessor(&per_sm, &p)) { fprintf(stderr, "row %d: error %d\n", row, error); return 1; }
    printf("%d,%d,%d,65536,%zu,%d,%d,%zu,%zu,%d\n", d[0], d[1] / 32, per_sm, p.sharedMemPerMultiprocessor, threads,
           f.numRegs, f.sharedSizeBytes, dynamic, r.activeBlocksPerMultiprocessor);
  }
}
"""

include = sys.argv[1] if len(sys.argv) > 1 else "/usr/local/cuda/include"
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "rows.c"
    source.write_text(PROGRAM)
    subprocess.run(["cc", "-I", include, "-o", f"{folder}/rows", source], check=True)
    print(subprocess.run([f"{folder}/rows"], check=True, capture_output=True, text=True).stdout, end="")
