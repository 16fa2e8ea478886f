# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench/gpu/run runs, step by step."""
