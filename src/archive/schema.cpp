#include "archive/schema.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <thread>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t application_id = 0x63756c31;  // "cul1": tells our files from those of other programs

// Step n leads from version n to version n + 1. Never change one that was released: add another.
constexpr std::array<const char*, newest_schema_version> steps = {
    R"(
    CREATE TABLE tasks (
      hash TEXT PRIMARY KEY NOT NULL,
      name TEXT NOT NULL,
      graph_json TEXT NOT NULL,
      created TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE programs (
      hash TEXT PRIMARY KEY NOT NULL,  -- SHA-256 of the text
      text TEXT NOT NULL,
      created TEXT NOT NULL
    );
    CREATE TABLE evaluations (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      task_hash TEXT NOT NULL REFERENCES tasks(hash),
      program_hash TEXT NOT NULL REFERENCES programs(hash),
      plan_hash TEXT NOT NULL,
      device TEXT NOT NULL,
      gpu TEXT NOT NULL,
      target TEXT NOT NULL,
      status TEXT NOT NULL,
      reward REAL,
      speedup REAL,
      speedup_low REAL,
      speedup_high REAL,
      reference_ms REAL,
      candidate_ms REAL,
      deterministic INTEGER,
      mode TEXT NOT NULL,
      error_message TEXT NOT NULL,
      error_line INTEGER NOT NULL,
      error_column INTEGER NOT NULL,
      json TEXT NOT NULL,
      version TEXT NOT NULL,
      created TEXT NOT NULL
    );
    CREATE INDEX evaluations_by_plan ON evaluations (plan_hash, task_hash, gpu);
    )",
    R"(
    ALTER TABLE evaluations ADD COLUMN precision TEXT NOT NULL DEFAULT '';
    CREATE INDEX evaluations_by_reward ON evaluations (task_hash, gpu, reward DESC);
    )",
};

std::int64_t version_of(Database& database) { return database.query_number("PRAGMA user_version"); }

//! Only reads, so that a file which is not ours stays as it is.
void refuse_foreign_file(Database& database) {
  const std::int64_t version = version_of(database);
  if (version > newest_schema_version)
    throw Error(fmt::format("{}: the archive has version {}, this program knows versions up to {}: update the program",
                            database.path().string(), version, newest_schema_version));
  const bool has_tables = database.query_number("SELECT count(*) FROM sqlite_master") > 0;
  if (has_tables && database.query_number("PRAGMA application_id") != application_id)
    throw Error(fmt::format("{}: this is another program's database, not an archive", database.path().string()));
}

//! SQLite does not wait for the lock that a change of the journal needs, so two first users would collide.
void use_write_ahead_log(Database& database) {
  const auto limit = std::chrono::steady_clock::now() + Database::lock_limit;
  for (;;) {
    const int code = sqlite3_exec(database.handle(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    const bool locked = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
    if (!locked || std::chrono::steady_clock::now() > limit) database.fail("cannot open the archive", code);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void migrate(Database& database, int to_version) {
  if (version_of(database) >= to_version) return;
  Transaction transaction(database);
  // Asked again, for another process may have migrated while we waited for the lock.
  for (auto version = static_cast<int>(version_of(database)); version < to_version; ++version)
    database.execute(steps[static_cast<std::size_t>(version)]);
  database.execute(fmt::format("PRAGMA application_id = {}", application_id));
  database.execute(fmt::format("PRAGMA user_version = {}", to_version));
  transaction.commit();
}

}  // namespace

void open_schema(Database& database, int version) {
  refuse_foreign_file(database);
  use_write_ahead_log(database);
  // FULL: a record that was acknowledged survives a power cut, not only a kill. One sync for each evaluation is
  // nothing beside the evaluation.
  database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
  migrate(database, version);
}

}  // namespace cudal1
