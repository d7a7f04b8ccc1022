// The tables of the archive, as numbered steps from one version to the next.
#pragma once

#include "archive/database.hpp"

namespace cudal1 {

inline constexpr int newest_schema_version = 2;

//! Makes the file ready for use: refuses what is no archive or is newer than this program, sets how SQLite writes,
//! and brings an empty or older file to `version` in one transaction. A refused file is left as it was.
void open_schema(Database& database, int version = newest_schema_version);

}  // namespace cudal1
