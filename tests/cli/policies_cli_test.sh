#!/usr/bin/env bash
# `optimize` with language models: one in this process, one behind a server, and both in turns with the search.
# policies_cli_test.sh CUDAL1 PYTHON SOURCE MODEL_TOOL
source "$3/tests/cli/models_setup.sh"
search() { timeout 200 "$cudal1" optimize "$source/examples/bias_gelu" --device vgpu --seed 3 --no-explain --json "$@"; }
model='d["results"][0]["models"][0]'

# A model with random weights says nothing that makes sense, but under the grammar its lines are directives.
"$model_tool" writing writing.gguf
search --policy local --model writing.gguf --grammar --samples 8 --repair 0 --budget-evals 2 --archive local.sqlite -o local \
  >local.json 2>local.err || fail "a local model: $(cat local.err)"
[[ $(field local.json "$model['policy']") == local ]] || fail 'the model is named'
[[ $(field local.json "$model['samples'] >= 8 and $model['new_tokens'] > 0") == True ]] || fail 'its samples are counted'
[[ $(field local.json "$model['no_program']") == 0 ]] || fail 'under the grammar every whole answer is a program'

# Killed while its model writes, a search goes on: what was judged is on record, once, and counts.
judged() {
  "$python" -c 'import sqlite3; archive = sqlite3.connect("local.sqlite")
print(*archive.execute("pragma integrity_check").fetchone(),
      *archive.execute("select count(*), count(distinct program_hash) from evaluations").fetchone())'
}
[[ $(judged) == 'ok 2 2' ]] || fail "two programs on record: $(judged)"
# Nothing holds these answers to directives, so that it writes for minutes and finds no program.
timeout 200 "$cudal1" optimize "$source/examples/bias_gelu" --device vgpu --seed 3 --no-explain --policy local \
  --model writing.gguf --samples 128 --context 2000 --max-tokens 1000 --repair 0 --budget-evals 4 \
  --archive local.sqlite -o local >killed.out 2>&1 &
writer() { pgrep -x cudal1-search -P "$(pgrep -x cudal1 -P $!)"; }
for _ in $(seq 600); do
  ticks=$(cut -d' ' -f14 "/proc/$(writer 2>/dev/null)/stat" 2>/dev/null || echo 0)
  ((ticks > 400)) && break  # four seconds of a processor: it has begun
  sleep 0.1
done
kill -KILL "$(writer)" || fail "there was no search to kill: $(cat killed.out)"
wait $!
grep -q 'the search .*signal 9.*on record' killed.out || fail "what became of the search: $(cat killed.out)"
[[ $(judged) == 'ok 2 2' ]] || fail "the record after the kill: $(judged)"
search --policy local --model writing.gguf --grammar --samples 8 --repair 0 --budget-evals 4 \
  --archive local.sqlite -o local >local.json 2>local.err || fail "goes on: $(cat local.err)"
[[ $(field local.json '(d["results"][0]["evaluations"], d["results"][0]["judged"])') == '(4, 2)' ]] ||
  fail "the budget counts on: $(field local.json '(d["results"][0]["evaluations"], d["results"][0]["judged"])')"
[[ $(judged) == 'ok 4 4' ]] || fail "nothing is judged again: $(judged)"

if ! ldconfig -p | grep -q libcuda.so.1; then
  search --policy local --model writing.gguf --model-device cuda -o gpu >gpu.json 2>gpu.err && fail 'a GPU that is not there'
  grep -q -- '--model-device cuda: no NVIDIA driver' gpu.json gpu.err || fail "says what is missing: $(cat gpu.err)"
fi

search --policy local -o none >none.json 2>none.err && fail 'a model that is not there'
grep -q 'models fetch' none.json none.err || fail "says how to get one: $(cat none.err)"

"$python" "$source/tests/cli/chat_server.py" port log &
for _ in $(seq 100); do [[ -s port ]] && break; sleep 0.1; done
server=http://127.0.0.1:$(cat port)/v1
export OPENAI_API_KEY=sk-test-of-policies-1234567890
search --policy remote --server "$server" --remote-model some --price-in 1 --price-out 2 --budget-evals 2 \
  --archive remote.sqlite -o remote >remote.json 2>remote.err || fail "a remote model: $(cat remote.err)"
[[ $(field remote.json "d['results'][0]['best']['status']") == ok ]] || fail 'its program is right'
[[ $(field remote.json "$model['programs']") == 1 ]] || fail 'a program that it says again is no new one'
[[ $(field remote.json "$model['cost'] > 0 and $model['copies'] > 0") == True ]] || fail 'cost and copies are counted'
grep -q 'first request' remote.err || fail "what it may cost is said before: $(cat remote.err)"
grep -q 'Bearer sk-test-of-policies' log || fail 'the server gets the key'
grep -rq 'sk-test-of-policies' --exclude=log . && fail 'the key is nowhere else'
grep -q 'aten::\|gelu_1' log || fail 'the task is shown'

shown() { "$cudal1" prompt "$source/examples/bias_gelu" --device vgpu --archive remote.sqlite --seed 1 "$@" >shown 2>/dev/null; }
shown --profiles && grep -q 'Where its time goes' shown || fail 'the profile of an exemplar'
shown --profiles --form compact && grep -q '^Time: .*%' shown || fail 'the profile of an exemplar in one line'
shown && grep -q 'Where its time goes' shown && fail 'a profile that nobody asked for'

before=$(wc -l <log)
rm -rf remote remote.sqlite
search --policy remote --server "$server" --remote-model some --budget-evals 1 --archive remote.sqlite -o remote >again.json 2>/dev/null
[[ $(wc -l <log) == "$before" ]] || fail 'answers that were paid for are not asked for again'
search --policy remote --server "$server" --remote-model other --price-in 1 --price-out 1e6 --max-cost 0.001 --budget-evals 1 \
  --archive dear.sqlite -o dear >dear.json 2>dear.err
[[ $(wc -l <log) == "$before" ]] || fail 'nothing is sent that could pass the ceiling'

search --policy remote --server "$server" --remote-model profiled --profiles --budget-evals 2 --archive mix.sqlite -o profiled >/dev/null 2>&1
search --policy remote --server "$server" --remote-model profiled --profiles --budget-evals 3 --archive mix.sqlite -o profiled >/dev/null 2>&1
grep -q 'Where its time goes' log || fail 'a model is shown the profiles that it asked for'
rm -f mix.sqlite*

search --policy remote:1,search:1 --server "$server" --remote-model some --budget-evals 2 --archive mix.sqlite -o mix >mix.json 2>mix.err ||
  fail "two policies: $(cat mix.err)"
[[ $(field mix.json "d['results'][0]['judged']") == 2 ]] || fail 'both have proposed'
[[ $(field mix.json "$model['programs']") == 1 ]] || fail 'one of the two programs is the model'\''s'

search --policy nobody >/dev/null 2>usage.err
[[ $? == 2 ]] || fail 'an unknown policy is wrong usage'
grep -q "there is no policy 'nobody'" usage.err || fail "and named: $(cat usage.err)"
search --policy remote --server "$server" >/dev/null 2>usage.err
[[ $? == 2 ]] || fail 'a remote policy without a model is wrong usage'

[[ $failed == 0 ]] && echo 'all passed'
exit $failed
