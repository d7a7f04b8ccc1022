#!/usr/bin/env bash
# run_pytest.sh PYTHON SOURCE REPORT: the bridge's own tests; 77 where Python lacks what they need.
set -uo pipefail
python=$1 source=$2 report=$3
for package in torch pytest safetensors; do
  "$python" -c "import $package" 2>/dev/null || { echo "SKIP: $python has no $package"; exit 77; }
done
cd "$source/python" || exit 1
PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -q -p no:cacheprovider --junitxml="$report" tests
