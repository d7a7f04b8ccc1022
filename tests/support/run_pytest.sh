#!/usr/bin/env bash
# run_pytest.sh PYTHON FOLDER REPORT TESTS…: pytest in that folder; 77 where Python lacks what the tests need.
set -uo pipefail
python=$1 folder=$2 report=$3
shift 3
for package in torch pytest safetensors; do
  "$python" -c "import $package" 2>/dev/null || { echo "SKIP: $python has no $package"; exit 77; }
done
cd "$folder" || exit 1
PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -q -p no:cacheprovider --junitxml="$report" "$@"
