#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "archive/evaluation_record.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/gpu_option.hpp"
#include "cli/module_source.hpp"
#include "cli/number_options.hpp"
#include "cli/printable.hpp"
#include "cli/program_text.hpp"
#include "cli/progress.hpp"
#include "cli/task_argument.hpp"
#include "device/cuda/driver.hpp"
#include "judge/backend_profile.hpp"
#include "policy/prompt/exemplar_selection.hpp"
#include "policy/prompt/profile_text.hpp"
#include "policy/prompt/repair.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

struct PromptCommandOptions {
  fs::path task, repair, archive;
  std::string form = "full", card, choice = "bucket", device = "auto", gpu = "h200";
  std::size_t exemplars = 2, context_tokens = 0, answer_tokens = 0;  //!< tokens 0: as the form has them
  std::uint64_t seed = 0;                                            //!< 0: from the operating system
  bool profiles = false;
  bool as_json = false;
};

struct TargetGpu {
  std::string name;  //!< as evaluations have it
  vgpu::GpuProfile profile;
};

TargetGpu target_gpu(const PromptCommandOptions& options) {
  std::string reason;
  const bool is_real = options.device == "cuda" || (options.device == "auto" && cuda::device_count(reason) > 0);
  if (!is_real) {
    const vgpu::GpuProfile profile = vgpu::find_profile(options.gpu);
    return {"virtual " + profile.title, profile};
  }
  const auto backend = choose_backend("cuda", {});
  const vgpu::MatchingProfile matching = profile_of(*backend);
  return {backend->info().name, vgpu::parse_profile(matching.text, matching.origin)};
}

//! A prompt is only looked at: no archive is made for it.
std::unique_ptr<Archive> archive_on_record(const fs::path& asked) {
  const fs::path file = archive_file(asked);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    if (!asked.empty()) throw Error(file.string() + ": there is no such archive");
    return nullptr;
  }
  std::string why_none;
  auto archive = open_archive(file, why_none);
  if (!archive) report_problem(why_none + " (there are no exemplars)");
  return archive;
}

//! Right programs of the task, no plan twice; solutions in Python have none, nor has what this version no longer
//! understands.
std::vector<ScoredProgram> scored_programs(Archive& archive, const Task& task, const std::string& gpu) {
  constexpr int most_on_record = 1000;
  std::set<std::string> plans;
  std::vector<ScoredProgram> programs;
  for (const Exemplar& exemplar : archive.best(task.hash, gpu, most_on_record)) {
    const EvaluationRecord& record = exemplar.evaluation;
    if (record.plan_hash.empty() || !plans.insert(record.plan_hash).second) continue;
    if (!plan_program(task.graph, exemplar.program_text)) continue;
    programs.push_back({exemplar.program_text, record.reward.value_or(0.0), record.candidate_ms.value_or(0.0),
                        Failure{Status::ok, ""}, profile_of(record)});
  }
  return programs;
}

std::vector<PromptExemplar> chosen_exemplars(const std::vector<ScoredProgram>& programs,
                                             const PromptCommandOptions& options) {
  ExemplarOptions selection;
  selection.choice = exemplar_choice_from_string(options.choice).value_or(ExemplarChoice::bucket);
  selection.count = options.exemplars;
  Random random(options.seed);
  const PromptForm form = prompt_form_from_string(options.form).value_or(PromptForm::full);
  std::vector<PromptExemplar> exemplars;
  for (const std::size_t index : select_exemplars(programs, selection, random))
    exemplars.push_back({programs[index].text, programs[index].reward,
                         options.profiles ? profile_text(programs[index].profile, form) : std::string()});
  return exemplars;
}

PromptOptions prompt_options(const PromptCommandOptions& options) {
  PromptOptions made;
  made.form = prompt_form_from_string(options.form).value_or(PromptForm::full);
  made.context_tokens = made.form == PromptForm::full ? 32768 : 8192;
  if (options.context_tokens > 0) made.context_tokens = options.context_tokens;
  if (options.answer_tokens > 0) made.answer_tokens = options.answer_tokens;
  if (options.card == "none") made.card = CardLength::none;
  if (options.card == "brief") made.card = CardLength::brief;
  if (options.card == "full") made.card = CardLength::full;
  return made;
}

//! As it was when the program was judged last; the status is ok where it never was.
Failure failure_on_record(Archive& archive, const Task& task, const std::string& program) {
  const std::string hash = sha256_hex(program);
  Failure failure{Status::ok, ""};
  for (const EvaluationRecord& record : archive.evaluations(task.hash)) {
    if (record.program_hash != hash) continue;
    failure = failure_of(record);
    const auto evaluation = nlohmann::json::parse(record.json, nullptr, false);
    const nlohmann::json::json_pointer details("/error/details");
    if (evaluation.is_object() && evaluation.contains(details) && evaluation[details].is_string())
      failure.details = evaluation[details].get<std::string>();
  }
  return failure;
}

//! What is wrong with a program: found now, or on record.
Failure failure_to_repair(const ProgramText& program, const Task& task, Archive* archive, const std::string& file) {
  if (program.failure) return *program.failure;
  const auto plan = plan_program(task.graph, program.text);
  if (!plan) return plan.failure();
  const Failure failure = archive ? failure_on_record(*archive, task, program.text) : Failure{Status::ok, ""};
  if (!is_repairable(failure.status))
    throw Error(
        fmt::format("{}: there is nothing to repair: it becomes a plan, and no failure of it is on record; "
                    "`cudal1 eval` says more",
                    file));
  return failure;
}

std::vector<ChatMessage> repair_messages(const Prompt& prompt, const PromptOptions& options,
                                         const FailedAttempt& attempt) {
  RepairConversation conversation(prompt, options, 1);
  if (!conversation.add_failure(attempt)) throw Error(conversation.why_over());
  return conversation.messages();
}

void print_parts(const Prompt& prompt, std::size_t tokens, const PromptCommandOptions& options) {
  for (const PromptPart& part : prompt.parts) {
    if (part.is_included)
      fmt::print(stderr, "  {:<24} {:>7} tokens\n", part.name, part.tokens);
    else
      fmt::print(stderr, "  {:<24} {:>7} left out: {}\n", part.name, part.tokens, part.why_left_out);
  }
  fmt::print(stderr, "  {:<24} {:>7} of {} (an estimate: 3 bytes each), {} kept for the answer; seed {}\n", "in all",
             tokens, prompt.context_tokens, prompt.answer_tokens, options.seed);
}

nlohmann::json prompt_json(const Task& task, const TargetGpu& gpu, const Prompt& prompt,
                           const std::vector<ChatMessage>& messages, std::size_t tokens,
                           const PromptCommandOptions& options) {
  nlohmann::json shown{{"task", task.name}, {"gpu", gpu.name}, {"form", options.form}};
  shown["messages"] = nlohmann::json::array();
  for (const ChatMessage& message : messages)
    shown["messages"].push_back({{"role", to_string(message.role)}, {"content", message.text}});
  shown["parts"] = nlohmann::json::array();
  for (const PromptPart& part : prompt.parts)
    shown["parts"].push_back(
        {{"name", part.name},
         {"tokens", part.tokens},
         {"included", part.is_included},
         {"why_left_out", part.is_included ? nlohmann::json() : nlohmann::json(part.why_left_out)}});
  shown["tokens"] = tokens;
  shown["context_tokens"] = prompt.context_tokens;
  shown["answer_tokens"] = prompt.answer_tokens;
  shown["seed"] = options.seed;
  return shown;
}

//! As a model gets it; a terminal gets nothing that would steer it.
void print_messages(const std::vector<ChatMessage>& messages) {
  for (const ChatMessage& message : messages) {
    if (messages.size() > 1) fmt::print("==== {} ====\n", to_string(message.role));
    fmt::print("{}", isatty(STDOUT_FILENO) ? printable_lines(message.text) : message.text);
  }
}

int run_prompt(PromptCommandOptions options) {
  if (options.seed == 0) options.seed = secret_seed();
  const Task task = load_task_argument(options.task);
  const TargetGpu gpu = target_gpu(options);
  const auto archive = archive_on_record(options.archive);
  PromptSubject subject{task.name, task.description, task.graph, module_source(task), gpu.profile, {}};
  if (archive) subject.exemplars = chosen_exemplars(scored_programs(*archive, task, gpu.name), options);
  const PromptOptions made = prompt_options(options);
  const Prompt prompt = make_prompt(subject, made);
  std::vector<ChatMessage> messages{{ChatMessage::Role::user, prompt.text}};
  if (!options.repair.empty()) {
    const ProgramText program = read_program(options.repair);
    const Failure failure = failure_to_repair(program, task, archive.get(), options.repair.string());
    messages = repair_messages(prompt, made, {program.text, failure});
  }
  std::size_t tokens = 0;
  for (const ChatMessage& message : messages) tokens += made.count_tokens(message.text);
  if (options.as_json)
    fmt::print("{}\n", prompt_json(task, gpu, prompt, messages, tokens, options)
                           .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    print_messages(messages);
  print_parts(prompt, tokens, options);
  return 0;
}

}  // namespace

void add_prompt_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<PromptCommandOptions>();
  CLI::App* command = app.add_subcommand("prompt", "Show what a language model would see of a task");
  command->footer("Example: cudal1 prompt examples/row_softmax --form compact");
  command->add_option("task", options->task, task_argument_help)->required();
  command->add_option("--form", options->form, "full, or compact for small models trained here; default full")
      ->check(CLI::IsMember({"full", "compact"}));
  command->add_option("--exemplars", options->exemplars, "Earlier programs to show, of those on record; default 2")
      ->check(whole_number());
  command->add_option("--choice", options->choice, "How these are drawn; default bucket")
      ->check(CLI::IsMember({"bucket", "island", "random", "none"}));
  command->add_flag("--profiles", options->profiles,
                    "Show where the time of these programs goes, as far as it is on record");
  command->add_option("--card", options->card, "How much is said of the format; default full, with --form compact none")
      ->check(CLI::IsMember({"none", "brief", "full"}));
  command
      ->add_option("--context", options->context_tokens,
                   "Tokens that the model can see, its answer included; default 32768, with --form compact 8192")
      ->check(whole_number());
  command
      ->add_option("--answer-tokens", options->answer_tokens,
                   "Of which are kept for its answer; default 8192, with --form compact 160")
      ->check(whole_number());
  command->add_option("--repair", options->repair, "A program that failed: show it with its error, as a second turn");
  command->add_option("--archive", options->archive, "Where programs are on record; default: the user's own");
  command->add_option("--device", options->device, "Whose programs and facts: auto, cuda or vgpu")
      ->check(CLI::IsMember({"auto", "cuda", "vgpu"}));
  add_gpu_option(*command, options->gpu);
  command->add_option("--seed", options->seed, "For drawing the same exemplars again")->check(whole_number());
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] { action = [options] { return run_prompt(*options); }; });
}

}  // namespace cudal1
