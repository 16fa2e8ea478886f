// SPDX-License-Identifier: GPL-3.0-or-later
// Holds no code: tests take the precompiled header of the target that this file is in.
