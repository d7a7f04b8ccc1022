#!/usr/bin/env bash
# docs/techniques.md is what `cudal1 techniques --markdown` prints. Usage: techniques_page_test.sh BINARY SOURCE_FOLDER
set -uo pipefail
cudal1=$1 page=$2/docs/techniques.md
if ! diff "$page" <("$cudal1" techniques --markdown); then
  echo 'FAILED: docs/techniques.md is old; make it new with: ./cudal1 techniques --markdown > docs/techniques.md'
  exit 1
fi
