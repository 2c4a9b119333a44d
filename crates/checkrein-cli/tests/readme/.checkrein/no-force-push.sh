#!/bin/sh
case $(checkrein get tool_input.command) in
  *"push --force"*) checkrein say deny "force pushes are for people" ;;
esac
