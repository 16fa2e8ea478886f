// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/simulator/prices/scenario.h>

#include <array>
#include <string>

namespace draftscope::simulator {

namespace {

// Ethernet is taken as the kernel's TCP uses it: sockperf's half of a round trip of 1,500 bytes was 17.8 us
// between two Intel X520 of 10 Gbit/s without a switch (github.com/F-Stack/f-stack, issue 540), which is the
// kernel's time more than the wire's, so that faster wires have it, too. Of the rate Open MPI reached 37.23
// of 40 Gbit/s (Cisco, "MPI over 40Gb Ethernet", blogs.cisco.com/performance/mpi-over-40gb-ethernet), past
// the kernel. InfiniBand is as Azure states it of its HBv3 (HDR: 1.2 us, 192 Gbit/s) and HBv4 (NDR: less than
// 2 us, 400 Gbit/s), learn.microsoft.com/azure/virtual-machines, hbv3-performance and hbv4-performance.
constexpr double reached = 37.23 / 40.0;

constexpr double gb_s(double gbit_s) {
  return gbit_s / 8.0;
}

constexpr std::array<RankLink, 5> links{{{"10gbe", "10 Gbit/s Ethernet", 17.8e3, reached* gb_s(10.0), 0.5},
                                         {"25gbe", "25 Gbit/s Ethernet", 17.8e3, reached* gb_s(25.0), 0.5},
                                         {"100gbe", "100 Gbit/s Ethernet", 17.8e3, reached* gb_s(100.0), 0.5},
                                         {"hdr", "InfiniBand HDR", 1.2e3, gb_s(192.0), 0.3},
                                         {"ndr", "InfiniBand NDR", 2.0e3, gb_s(400.0), 0.3}}};

}  // namespace

std::span<const RankLink> known_rank_links() {
  return links;
}

Result<RankLink> find_rank_link(std::string_view name) {
  std::string names;
  for (const RankLink& link : links) {
    if (link.name == name) return link;
    names += (names.empty() ? "" : ", ") + std::string(link.name);
  }
  return fail("link is {}, expected one of {}", quote(name), names);
}

}  // namespace draftscope::simulator
