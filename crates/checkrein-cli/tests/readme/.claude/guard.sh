#!/bin/sh
if jq -r .toolInput.command | grep -q 'rm -rf'; then
  echo "not like this" >&2
  exit 1
fi
