// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory/shared_memory.h"

#include <algorithm>

namespace draftscope::ptx {

std::optional<int> SharedMemory::touch(Users& users, int warp, Touch how) const {
  if (users.epoch != epoch_) users = {.epoch = epoch_};
  const auto me = static_cast<std::int8_t>(warp);
  const auto other = [me](std::int8_t who) { return who != nobody && who != me; };
  if (other(users.writer)) return users.writer;
  if (how != Touch::read && other(users.reader)) return users.reader;
  if (how != Touch::atomic && other(users.atomic)) return users.atomic;
  std::int8_t& mine = how == Touch::read ? users.reader : how == Touch::write ? users.writer : users.atomic;
  mine = mine == nobody || mine == me ? me : several;
  return std::nullopt;
}

std::optional<int> SharedMemory::touch(std::size_t offset, std::size_t bytes, int warp, Touch how) {
  std::optional<int> race;
  for (std::size_t at = offset; at < offset + bytes && !race;) {
    const std::size_t end = std::min(offset + bytes, at / 4 * 4 + 4);
    Unit& unit = units_[at / 4];
    if (!unit.is_split && end - at == 4) {
      race = touch(unit.users, warp, how);
    } else {
      std::array<Users, 4>& each = split_[at / 4];
      if (!unit.is_split) each.fill(unit.users);
      unit.is_split = true;
      for (std::size_t i = at; i < end && !race; ++i) race = touch(each[i % 4], warp, how);
    }
    at = end;
  }
  return race;
}

}  // namespace draftscope::ptx
