#include "train/stages/program_pool.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {

using nlohmann::json;

void ShownPrograms::keep(const std::vector<std::size_t>& places) {
  ShownPrograms kept{{}, {}, island};
  for (const std::size_t place : places) {
    kept.exemplars.push_back(exemplars.at(place));
    kept.plan_hashes.push_back(plan_hashes.at(place));
  }
  *this = std::move(kept);
}

void ProgramPool::add(const PooledProgram& program) {
  if (!(program.speedup > 0.0)) throw Error("a program without a speed-up cannot be an exemplar");
  const std::size_t number = pool_.add(program.plan_hash, std::log(program.speedup), program.island);
  if (number == programs_.size())
    programs_.push_back(program);
  else
    programs_[number].speedup = program.speedup;
  additions_.push_back(program);
}

ShownPrograms ProgramPool::draw(Random& random) const {
  const DrawnExemplars drawn = pool_.draw(random);
  ShownPrograms shown{{}, {}, drawn.island};
  for (std::size_t i = 0; i < drawn.plans.size(); ++i) {
    const PooledProgram& program = programs_[drawn.plans[i]];
    shown.exemplars.push_back({program.text, programs_[drawn.scored_as[i]].speedup, {}, shows_scores_});
    shown.plan_hashes.push_back(program.plan_hash);
  }
  return shown;
}

json ProgramPool::to_json() const {
  json additions = json::array();
  for (const PooledProgram& program : additions_) {
    json row{{"plan_hash", program.plan_hash}, {"text", program.text}, {"speedup", program.speedup}};
    if (program.island) row["island"] = *program.island;
    additions.push_back(std::move(row));
  }
  return additions;
}

ProgramPool ProgramPool::from(const json& said, const ExemplarPoolOptions& options) {
  ProgramPool pool(options);
  for (const json& row : said) {
    PooledProgram program{row.at("plan_hash").get<std::string>(), row.at("text").get<std::string>(),
                          row.at("speedup").get<double>()};
    if (row.contains("island")) program.island = row["island"].get<std::size_t>();
    pool.add(program);
  }
  return pool;
}

}  // namespace cudal1
