// SPDX-License-Identifier: GPL-3.0-or-later
#include "processor.h"

#include "cpu/kernels/kernels.h"
#include "cpu/quantised/packed_products.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace draftscope::engine::cpu {
namespace {

#if defined(__x86_64__)

struct Leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Leaf cpuid(unsigned leaf, unsigned subleaf) {
  Leaf result;
  __get_cpuid_count(leaf, subleaf, &result.eax, &result.ebx, &result.ecx, &result.edx);
  return result;
}

bool bit(unsigned word, int index) {
  return ((word >> index) & 1U) != 0;
}

/// Register states that the operating system saves on a context switch.
std::uint64_t saved_states() {
  if (!bit(cpuid(1, 0).ecx, 27)) return 0;  // OSXSAVE
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

/// Linux grants the tiles' 8 KiB of state only to processes that ask.
bool tiles_permitted() {
  constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM, asm/prctl.h since Linux 5.16
  constexpr long tile_data = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

InstructionSets detect() {
  InstructionSets sets;
  const std::uint64_t saved = saved_states();
  const auto saves = [&](std::uint64_t mask) { return (saved & mask) == mask; };
  const Leaf one = cpuid(1, 0);
  const Leaf seven = cpuid(7, 0);
  const Leaf seven_one = seven.eax >= 1 ? cpuid(7, 1) : Leaf{};
  constexpr std::uint64_t ymm = 0x6;
  constexpr std::uint64_t zmm = 0xe6;
  constexpr std::uint64_t tiles = 0x60000;
  sets.avx2 = saves(ymm) && bit(one.ecx, 12) && bit(one.ecx, 29) && bit(seven.ebx, 5);
  sets.avx512 = sets.avx2 && saves(zmm) && bit(seven.ebx, 16) && bit(seven.ebx, 17) && bit(seven.ebx, 30) &&
                bit(seven.ebx, 31);
  sets.avx512_vnni = sets.avx512 && bit(seven.ecx, 11);
  sets.avx512_bf16 = sets.avx512 && bit(seven_one.eax, 5);
  sets.amx_bf16 =
      sets.avx512_bf16 && saves(tiles) && bit(seven.edx, 22) && bit(seven.edx, 24) && tiles_permitted();
  return sets;
}

bool made_by_intel() {
  const Leaf name = cpuid(0, 0);
  return name.ebx == signature_INTEL_ebx && name.ecx == signature_INTEL_ecx &&
         name.edx == signature_INTEL_edx;
}

#else

InstructionSets detect() {
  return {};
}

bool made_by_intel() {
  return false;
}

#endif

}  // namespace

const InstructionSets& instruction_sets() {
  static const InstructionSets sets = detect();
  return sets;
}

bool streams_want_prefetches() {
  static const bool wanted = made_by_intel();
  return wanted;
}

std::vector<const Kernels*> available_kernels() {
  std::vector<const Kernels*> available{&portable_kernels()};
#if defined(__x86_64__)
  const InstructionSets& sets = instruction_sets();
  if (sets.avx2) available.push_back(&avx2_kernels());
  if (sets.avx512) available.push_back(&avx512_kernels());
  if (sets.avx512_bf16) available.push_back(&avx512_bf16_kernels());
  if (sets.amx_bf16) available.push_back(&amx_bf16_kernels());
#endif
  return available;
}

std::vector<const PackedProducts*> available_packed_products() {
  std::vector<const PackedProducts*> available{&portable_packed_products()};
#if defined(__x86_64__)
  const InstructionSets& sets = instruction_sets();
  if (sets.avx2) available.push_back(&avx2_packed_products());
  if (sets.avx512) available.push_back(&avx512_packed_products());
  if (sets.avx512_vnni) available.push_back(&avx512_vnni_packed_products());
#endif
  return available;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

std::int32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<std::int32_t>(std::thread::hardware_concurrency()));
}

}  // namespace draftscope::engine::cpu
