// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes the policy file available under the names that the tuner uses.

#include <draftscope/speculation/policy_file.h>

namespace draftscope::engine {

using Policy = speculation::PolicyFile;
using speculation::Candidate;
using speculation::CandidateOrigin;
using speculation::check_policy_finished;
using speculation::check_policy_shape;
using speculation::Facts;
using speculation::Finalist;
using speculation::Measurement;
using speculation::model_facts;
using speculation::other_checkpoint_note;
using speculation::parse_policy;
using speculation::policy_json;
using speculation::policy_shard;
using speculation::policy_skip_set;
using speculation::read_policy;
using speculation::score_spread;
using speculation::scored_by_name;
using speculation::ScoredBy;
using speculation::ScoreSpread;
using speculation::Trial;
using speculation::write_policy;

}  // namespace draftscope::engine
