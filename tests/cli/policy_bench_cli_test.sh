#!/usr/bin/env bash
# `bench --policy`: samples of a search, of a model in this process, of one behind a server, and of a mixture.
# policy_bench_cli_test.sh CUDAL1 PYTHON SOURCE MODEL_TOOL
source "$3/tests/cli/models_setup.sh"
sample() { timeout 200 "$cudal1" bench "$@" --device vgpu --seed 3; }
lines() { [[ $(wc -l <"$1") == "$2" ]] || fail "$1 has $(wc -l <"$1") lines, not $2"; }
gelu=$source/examples/bias_gelu
figure='d["figures"][-1]'

# A search: all of its samples are right; the same command draws none again, a larger one the further ones.
sample "$gelu" --policy search --samples 2 -o search >search.txt 2>search.err || fail "a search: $(cat search.err)"
grep -q '^no level  *1  *2  *1.000  *1.000' search.txt || fail "pass@1 and pass@2: $(cat search.txt)"
grep -q 'times of 2 samples are predicted' search.txt || fail 'that times are predicted is said'
lines search/samples.jsonl 2
for file in report.md samples.csv; do [[ -s search/$file ]] || fail "no $file"; done
sample "$gelu" --policy search --samples 3 -o search --json >search.json 2>/dev/null || fail 'one more sample'
lines search/samples.jsonl 3
[[ $(field search.json "len({sample['program'] for sample in d['samples']})") == 3 ]] || fail 'three different programs'
sample "$gelu" --policy search --samples 3 -o search >/dev/null 2>&1
lines search/samples.jsonl 3

# What is cut off in the middle goes on where it was.
head -c -40 search/samples.jsonl >cut && mv cut search/samples.jsonl
sample "$gelu" --policy search --samples 3 -o search --json >again.json 2>/dev/null
[[ $(field again.json "$figure['right']") == 3 ]] || fail 'a sample that was cut off is drawn again'

# A model with random weights: under the grammar its lines are directives, some of which may even be right.
"$model_tool" writing writing.gguf
sample "$gelu" --policy local --model writing.gguf --grammar --samples 4 -o local --json >local.json 2>local.err ||
  fail "a local model: $(cat local.err)"
[[ $(field local.json "len(d['samples'])") == 4 ]] || fail 'every answer is a sample'
[[ $(field local.json "$figure['new_tokens'] > 0 and $figure['prompt_tokens'] > 0") == True ]] || fail 'tokens are counted'
sample "$gelu" --policy local --samples 4 >/dev/null 2>none.err && fail 'a model that is not there'
grep -q 'models fetch' none.err || fail "says how to get one: $(cat none.err)"

# A server that always says the same: copies count each, and cost; a task that cannot be exported is rows as well.
"$python" "$source/tests/cli/chat_server.py" port log &
for _ in $(seq 100); do [[ -s port ]] && break; sleep 0.1; done
server=http://127.0.0.1:$(cat port)/v1
export OPENAI_API_KEY=sk-test-of-policies-1234567890
mkdir suite && cp -r "$gelu" suite/ && echo 'class Model(:' >suite/broken.py
remote() { sample suite --policy remote --server "$server" --remote-model some --price-in 1 --price-out 2 --samples 4 "$@"; }
remote -o remote --json >remote.json 2>remote.err || fail "a remote model: $(cat remote.err)"
[[ $(field remote.json "$figure['right']") == 4 ]] || fail 'copies of a right program are right'
[[ $(field remote.json "$figure['cost'] > 0") == True ]] || fail 'cost is counted'
[[ $(field remote.json "[f['share'] for f in $figure['pass_at']]") == '[0.5, 0.5, 0.5]' ]] || fail 'half of the tasks pass'
[[ $(field remote.json "sorted({s['status'] for s in d['samples']})") == "['no_task', 'ok']" ]] || fail 'a failure is rows'
grep -rq 'sk-test-of-policies' --exclude=log . && fail 'the key is nowhere else'
asked=$(wc -l <log)
remote -o remote --json --price-in 3 >/dev/null 2>&1
[[ $(wc -l <log) == "$asked" ]] || fail 'what was sampled is not asked for again'

# A mixture, and two folders as one.
sample "$gelu" --policy remote:1,search:1 --server "$server" --remote-model some --samples 2 -o mixed --json >mixed.json 2>/dev/null ||
  fail 'a mixture'
[[ $(field mixed.json "sorted(s['policy'] for s in d['samples'])") == "['remote', 'search']" ]] || fail 'both gave samples'
"$cudal1" bench --merge search remote -o whole >merged.txt 2>merge.err || fail "a merge: $(cat merge.err)"
lines whole/samples.jsonl 11

# Wrong usage.
expect_usage() { local pattern=$1; shift; "$cudal1" bench "$@" >/dev/null 2>usage.err; [[ $? == 2 ]] || fail "usage: $*"
  grep -q -- "$pattern" usage.err || fail "$pattern: $(cat usage.err)"; }
expect_usage 'needs --policy' "$gelu" --samples 4
expect_usage 'no --programs' "$gelu" --policy search --programs archive
expect_usage 'cuda or vgpu' "$gelu" --policy search --device cpu
expect_usage "there is no policy 'nobody'" "$gelu" --policy nobody
expect_usage 'another folder' "$gelu" --device vgpu -o search

[[ $failed == 0 ]] && echo 'all passed'
exit $failed
